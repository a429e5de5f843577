import { ProvenderError } from "./provender-error.ts";
import { nameProvider, type ProviderRelease } from "./provider-release.ts";

const whyKeysAreRefused = {
  revoked: "an operator of the mirror revoked it",
  "not-pinned": "it is not among the keys that the configuration pins",
  unknown: "it is not known for this provider",
} as const;

const whySignaturesAreMissed = {
  revoked: "a key is revoked",
  "not-pinned": "the configuration takes pinned keys alone",
  unknown: "keys are known for this provider",
} as const;

/** A release whose key the trust policy does not take, or that nobody signed though its provider's releases are signed. */
export class KeyRefused extends ProvenderError {
  readonly code = "key-refused";
  /** "none" when nobody signed. */
  readonly fingerprint: string;
  readonly reason: keyof typeof whyKeysAreRefused;
  /** What decided, as the audit log names it. */
  readonly rule: string;
  constructor(
    release: ProviderRelease,
    fingerprint: string,
    reason: keyof typeof whyKeysAreRefused,
  ) {
    const provider = nameProvider(release);
    const { version } = release;
    const namespace = `${release.provider.hostname}/${release.provider.namespace}`;
    const remedies = {
      revoked: `run "provender trust approve --key ${fingerprint} ${namespace}"`,
      "not-pinned": `change "trust.keys"`,
      unknown: `run "provender trust approve ${provider}@${version}"`,
    } as const;
    const cause =
      fingerprint === "none"
        ? `nobody signed it (${whySignaturesAreMissed[reason]})`
        : `of its signing key ${fingerprint} (${whyKeysAreRefused[reason]})`;
    super(
      `${provider} ${version} is held back because ${cause}: after checking with the publisher, the mirror's operator can ${remedies[reason]}.`,
    );
    this.fingerprint = fingerprint;
    this.reason = reason;
    this.rule = `trust: ${reason}`;
  }
}

/** An operator approves a release that nothing is held back of. */
export class NothingToApprove extends ProvenderError {
  readonly code = "trust-decision";
  /** What could have been meant. */
  readonly held: readonly string[];
  constructor(release: string, held: readonly string[]) {
    const others =
      held.length === 0
        ? `nothing is; "provender trust list" shows what was seen`
        : `what is: ${held.join(", ")}`;
    super(
      `${release} is neither held back nor re-created now (${others}): to approve a version before it comes, use --ahead --key FINGERPRINT.`,
    );
    this.held = held;
  }
}

/** What is held back of a release cannot be approved as a release. */
export class NotApprovable extends ProvenderError {
  readonly code = "trust-decision";
  constructor(release: string, why: string, remedy: string) {
    super(`${release} cannot be approved because ${why}: ${remedy}.`);
  }
}

/** An operator takes an approval back that there is not. */
export class NothingApproved extends ProvenderError {
  readonly code = "trust-decision";
  readonly approved: readonly string[];
  constructor(release: string, approved: readonly string[]) {
    const others =
      approved.length === 0 ? "nothing is" : `what is: ${approved.join(", ")}`;
    super(
      `${release} is not approved (${others}): see "provender trust list"; to refuse a key, use --key FINGERPRINT.`,
    );
    this.approved = approved;
  }
}
