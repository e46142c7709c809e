#include "kernels/digest.h"

#include <openssl/evp.h>

#include "kernels/check.h"

namespace normd {

std::string sha256_hex(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  // It fails only without memory or in an OpenSSL that was built without SHA-256.
  NORMD_CHECK(EVP_Digest(bytes.data(), bytes.size(), digest, &length, EVP_sha256(), nullptr) == 1);
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * std::size_t{length});
  for (unsigned i = 0; i < length; ++i) {
    text += digits[digest[i] >> 4];
    text += digits[digest[i] & 15];
  }
  return text;
}

}  // namespace normd
