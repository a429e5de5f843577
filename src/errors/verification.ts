import { ProvenderError } from "./provender-error.ts";

/** A release without a signature or signing keys, from an origin that must sign. */
export class SignatureMissing extends ProvenderError {
  readonly code = "signature-missing";
  constructor(release: string, missing: "signing key" | "signature") {
    // Where a key is published, no setting but "off" takes a release without a signature.
    const advice =
      missing === "signature"
        ? "tell its publisher"
        : `set "signatures: when-published" for this origin to accept unsigned releases`;
    super(
      `${release} is refused because its registry publishes no ${missing}: ${advice}.`,
    );
  }
}

/** A network mirror is the origin of what must be signed. */
export class NetworkMirrorUnsigned extends ProvenderError {
  readonly code = "signature-missing";
  constructor(subject: string) {
    super(
      `${subject} is refused because its origin is a network mirror, which has no signatures: set "signatures: when-published" for this origin to take its word.`,
    );
  }
}

/** The signature over SHA256SUMS is not acceptable. */
export class SignatureRefused extends ProvenderError {
  readonly code = "signature-refused";
  readonly reason: string;
  constructor(release: string, reason: string, detail: string) {
    super(
      `The signature of ${release} is refused (${detail}): tell its publisher, and do not install it from elsewhere.`,
    );
    this.reason = reason;
  }
}

/** The signature could not be judged within its deadline; nothing is known about it. */
export class SignatureUndecided extends ProvenderError {
  readonly code = "signature-undecided";
  constructor(release: string, reason: string, options?: ErrorOptions) {
    super(
      `The signature of ${release} could not be judged (${reason}): nothing was accepted, try again.`,
      options,
    );
  }
}

/** SHA256SUMS is not in the strict form. */
export class ChecksumsMalformed extends ProvenderError {
  readonly code = "checksums-malformed";
  readonly line: number;
  constructor(release: string, line: number, reason: string) {
    super(
      `SHA256SUMS of ${release} is refused at line ${line}: ${reason}; tell its publisher.`,
    );
    this.line = line;
  }
}

/** The signed document does not name this archive. */
export class ArchiveNotSigned extends ProvenderError {
  readonly code = "archive-not-signed";
  readonly filename: string;
  constructor(release: string, filename: string) {
    super(
      `SHA256SUMS of ${release} does not name ${filename}: it is refused, tell its publisher.`,
    );
    this.filename = filename;
  }
}

/** Two sources that must agree on an archive's SHA-256 do not. */
export class ChecksumConflict extends ProvenderError {
  readonly code = "checksum-conflict";
  readonly expected: string;
  readonly got: string;
  constructor(archive: string, expected: string, got: string, where: string) {
    super(
      `${archive} is refused: expected SHA-256 ${expected}, ${where} says ${got}; tell its publisher.`,
    );
    this.expected = expected;
    this.got = got;
  }
}

/** The bytes that arrived are not the bytes that were signed. */
export class ArchiveDigestWrong extends ProvenderError {
  readonly code = "archive-digest";
  readonly expected: string;
  readonly got: string;
  constructor(archive: string, expected: string, got: string) {
    super(
      `${archive} is refused: expected SHA-256 ${expected}, the origin sent ${got}; nothing was kept, the next request fetches it again.`,
    );
    this.expected = expected;
    this.got = got;
  }
}

/** An archive whose content is not what a network mirror says. */
export class PackageHashWrong extends ProvenderError {
  readonly code = "archive-digest";
  readonly got: string;
  constructor(
    subject: string,
    expected: readonly string[],
    got: string | undefined,
  ) {
    const computed = got ?? "an archive that has none";
    super(
      `${subject} is refused: expected ${expected.join(" or ")}, the origin sent ${computed}; tell the operator of that mirror.`,
    );
    this.got = computed;
  }
}

/** A zip for which clients could not compute a reliable h1. */
export class ArchiveUnhashable extends ProvenderError {
  readonly code = "archive-unhashable";
  readonly reason: string;
  constructor(archive: string, reason: string, options?: ErrorOptions) {
    super(
      `${archive} has no h1: ${reason}; only its zh: can go into a lock file.`,
      options,
    );
    this.reason = reason;
  }
}

/** A release that the mirror takes unsigned, asked for by a client that checks signatures itself. */
export class NothingToVerify extends ProvenderError {
  readonly code = "nothing-to-verify";
  constructor(release: string, missing: string) {
    super(
      `${release} has no ${missing} that a client could check: this mirror takes it under its "signatures" setting, so install it through "network_mirror" instead.`,
    );
  }
}
