// SHA-256, by OpenSSL; the only code that sees it. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace normd {

std::string sha256_hex(std::string_view bytes);  // 64 lower-case hex digits

}  // namespace normd
