import { formatApproval } from "./trust.ts";
import { ProvenderError } from "./provender-error.ts";
import { nameProvider, type ProviderRelease } from "./provider-release.ts";

/** A file that is not a whole bundle as `export --bundle` writes it. */
export class BundleRefused extends ProvenderError {
  readonly code = "bundle-refused";
  constructor(path: string, problem: string, options?: ErrorOptions) {
    super(
      `${path} is refused as a bundle (${problem}): nothing of it was imported, get a whole copy of what "provender export --bundle" wrote.`,
      options,
    );
  }
}

/** A bundle that was written with --since leaves this out, and it is not stored either. */
export class BundleIncomplete extends ProvenderError {
  readonly code = "bundle-incomplete";
  constructor(subject: string) {
    super(
      `${subject} is neither in the bundle nor stored: import the bundle first that "--since" named when this one was written.`,
    );
  }
}

/** A release is offered with other content than its pinned checksums. */
export class ReleaseConflict extends ProvenderError {
  readonly code = "release-conflict";
  /** SHA-256 of the SHA256SUMS. */
  readonly offered: string;
  constructor(release: ProviderRelease, offered: string) {
    const provider = nameProvider(release);
    const { version } = release;
    super(
      `${provider} ${version} is offered with other content (SHA256SUMS ${offered}) than its pinned checksums: after checking with the publisher, the mirror's operator can run "${formatApproval(release, offered)}".`,
    );
    this.offered = offered;
  }
}

/** A bundle or a tree that could not be written. */
export class ExportFailed extends ProvenderError {
  readonly code = "export-failed";
  constructor(path: string, reason: string, options?: ErrorOptions) {
    super(
      `${path} could not be written: ${reason}; once that is mended, export again.`,
      options,
    );
  }
}

/** The bytes of a stored archive are not those that were stored. */
export class StoredArchiveDamaged extends ProvenderError {
  readonly code = "stored-archive-damaged";
  readonly problem: string;
  constructor(sha256: string, got: string) {
    const problem = `its SHA-256 is ${got}`;
    super(
      `The stored archive ${sha256} is damaged (${problem}): check the disk, and run "provender verify --repair", so that it is fetched again.`,
    );
    this.problem = problem;
  }
}
