import { row } from "../row.ts";

const refused = 451;

const missing = {
  signature: {
    cause: "its registry publishes no signature",
    // Where a key is published, no setting but "off" takes a release without a signature.
    remedy: "tell its publisher",
  },
  "signing key": {
    cause: "its registry publishes no signing key",
    remedy:
      'set "signatures: when-published" for this origin to accept unsigned releases',
  },
  "network mirror": {
    cause: "its origin is a network mirror, which has no signatures",
    remedy: 'set "signatures: when-published" for this origin to take its word',
  },
};

/** Signatures, checksums and archives. */
export const verificationErrors = {
  "signature-missing": row(["subject", "missing"], {
    status: refused,
    phrase: "Refused, its registry publishes no signature or key",
    sentence: (facts) =>
      `${facts.subject} is refused because ${missing[facts.missing].cause}`,
    remedy: (facts) => missing[facts.missing].remedy,
  }),
  "signature-refused": row(["subject", "reason", "detail"], {
    status: refused,
    phrase: "Refused, its signature is not acceptable",
    sentence: "The signature of {subject} is refused ({detail})",
    remedy: "tell its publisher, and do not install it from elsewhere",
  }),
  /** Nothing is known about the signature. */
  "signature-undecided": row(["subject", "reason"], {
    status: 503,
    phrase: "The signature could not be judged in time",
    sentence:
      "The signature of {subject} could not be judged ({reason}), so nothing was accepted",
    remedy: "try again",
  }),
  /** The mirror takes the release unsigned; this client checks signatures itself. */
  "nothing-to-verify": row(["subject", "missing"], {
    status: refused,
    phrase:
      "Nothing here that a client could verify, use network_mirror instead",
    sentence:
      '{subject} has no {missing} that a client could check, since this mirror takes it under its "signatures" setting',
    remedy: 'install it through "network_mirror" instead',
  }),
  "checksums-malformed": row(["subject", "line", "reason"], {
    status: refused,
    phrase: "Refused, its SHA256SUMS is malformed",
    sentence: "SHA256SUMS of {subject} is refused at line {line} ({reason})",
    remedy: "tell its publisher",
  }),
  "archive-not-signed": row(["subject", "filename"], {
    status: refused,
    phrase: "Refused, its SHA256SUMS does not name this archive",
    sentence:
      "SHA256SUMS of {subject} does not name {filename}, which is refused",
    remedy: "tell its publisher",
  }),
  "checksum-conflict": row(["archive", "expected", "got", "where"], {
    status: refused,
    phrase:
      "Refused, its registry names other content than was signed or seen first",
    sentence:
      "{archive} is refused (expected SHA-256 {expected}, {where} says {got})",
    remedy: "tell its publisher",
  }),
  /** Where a package hash was expected, a network mirror named it. */
  "archive-digest": row(["archive", "expected", "got"], {
    status: refused,
    phrase: "Refused, the origin sent other bytes than were signed",
    sentence: ({ archive, expected, got }) =>
      `${archive} is refused (expected ${isPackageHash(expected) ? "" : "SHA-256 "}${expected}, the origin sent ${got})`,
    remedy: ({ expected }) =>
      isPackageHash(expected)
        ? "tell the operator of that mirror"
        : "try again, which fetches it again, since nothing was kept",
  }),
  /** Clients could not compute a reliable h1 of the zip. */
  "archive-unhashable": row(["archive", "reason"], {
    sentence: "{archive} has no h1 ({reason})",
    remedy: "put only its zh: into a lock file",
  }),
};

/** True for a digest with its form before a colon, such as `h1:…`. */
export function isPackageHash(digest: string): boolean {
  return digest.includes(":");
}
