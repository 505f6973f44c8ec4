# SPDX-License-Identifier: Apache-2.0
"""The runner of ./run bench; see ../README.md."""
