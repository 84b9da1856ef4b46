"""The cipher of sealed keys: AES-256-GCM under a key that HKDF derives from a token and a salt.

With it comes the library cryptography, which is slow to load: import it when something is sealed.
"""

from __future__ import annotations

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from gwtui.domain.known_secrets import Secret

_PURPOSE = b"gwtui: sealed value of a new API key, version 1"
_KEY_BYTES = 32
_MARK_BYTES = 16


class SealCipher:
    """Encrypts and decrypts for one token and one salt.

    ``mark`` depends on both: by it a seal of another token differs from a damaged one.
    """

    def __init__(self, token: Secret, salt: bytes) -> None:
        size = _KEY_BYTES + _MARK_BYTES
        derived = HKDF(algorithm=SHA256(), length=size, salt=salt, info=_PURPOSE).derive(
            token.get_secret_value().encode()
        )
        self._cipher, self.mark = AESGCM(derived[:_KEY_BYTES]), derived[_KEY_BYTES:]

    def encrypt(self, nonce: bytes, plain: bytes, bound: bytes) -> bytes:
        """The ciphertext with its tag; ``bound`` is authenticated with it."""
        return self._cipher.encrypt(nonce, plain, bound)

    def decrypt(self, nonce: bytes, sealed: bytes, bound: bytes) -> bytes:
        """What was encrypted. Raises ValueError where it or ``bound`` was changed."""
        try:
            return self._cipher.decrypt(nonce, sealed, bound)
        except InvalidTag:
            # Without the cause: nothing of what was opened may be quoted.
            raise ValueError("not what was sealed") from None
