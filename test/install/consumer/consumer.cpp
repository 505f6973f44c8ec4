/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the version of the library. Fails if the headers have another version. */
#include <iostream>
#include <string_view>

#include <zkr/zkr.hpp>

int main()
{
    zkr::client_options options;
    options.session_timeout_ms = 5000;
    zkr::client client("127.0.0.1:1", options);
    zkr::mutex mutex(client, "/consumer");
    std::cout << zkr_version() << '\n';
    return std::string_view(zkr_version()) != ZKR_VERSION;
}
