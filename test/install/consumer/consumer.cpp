/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the version of the library it runs with; fails if the headers' is another one. */
#include <iostream>
#include <memory>
#include <string_view>

#include <zkr/zkr.h>

namespace
{

struct close_client {
    void operator()(zkr_client *client) const
    {
        zkr_client_close(client);
    }
};

} // namespace

int main()
{
    zkr_client_options options = ZKR_CLIENT_OPTIONS_INIT;
    options.session_timeout_ms = 5000;
    zkr_client *opened = nullptr;
    if (zkr_client_open(&opened, "127.0.0.1:1", &options) != ZKR_OK)
        return 1;
    std::unique_ptr<zkr_client, close_client> client(opened);
    std::cout << zkr_version() << '\n';
    return std::string_view(zkr_version()) != ZKR_VERSION;
}
