import { ProvenderError } from "./provender-error.ts";

/** The mirror's policy does not allow this provider, or this version of it. */
export class PolicyDenied extends ProvenderError {
  readonly code = "policy-denied";
  readonly provider: string;
  /** undefined when no version of the provider is allowed. */
  readonly version: string | undefined;
  /** The key of the configuration that decided. */
  readonly rule: string;
  constructor(
    provider: string,
    version: string | undefined,
    rule: string,
    kind: "provider" | "module" = "provider",
  ) {
    const [subject, other] =
      version === undefined
        ? [provider, kind]
        : [`${provider} ${version}`, "version"];
    super(
      `${subject} is denied by "${rule}" of this mirror: use another ${other}, or ask the mirror's operator to allow it.`,
    );
    this.provider = provider;
    this.version = version;
    this.rule = rule;
  }
}

/** A version that has not been public for as long as the mirror's policy wants. */
export class TooYoung extends ProvenderError {
  readonly code = "too-young";
  readonly provider: string;
  readonly version: string;
  /** The key of the configuration that decided. */
  readonly rule: string;
  /** Undefined when the version's age is not known. */
  readonly availableAt: Date | undefined;
  constructor(
    provider: string,
    version: string,
    rule: string,
    availableAt: Date | undefined,
  ) {
    const reason = availableAt
      ? `until ${availableAt.toISOString()}`
      : "because its age is not known";
    super(
      `${provider} ${version} is held back by "${rule}" of this mirror ${reason}: use an older version, or ask the mirror's operator to allow it.`,
    );
    this.provider = provider;
    this.version = version;
    this.rule = rule;
    this.availableAt = availableAt;
  }
}

/** The origin has versions, and none of them may be served. */
export class NothingAdmitted extends ProvenderError {
  readonly code = "nothing-admitted";
  readonly provider: string;
  /** How many for what reason, such as `2 denied, 1 held back`. */
  readonly counts: string;
  /** Each version, as far as a few lines can. */
  readonly reasons: readonly string[];
  constructor(
    provider: string,
    counts: string,
    reasons: readonly string[] = [],
  ) {
    super(
      `Every version of ${provider} is denied or held back by this mirror (${counts}): ask the mirror's operator, who finds the reasons in its audit log and with "provender trust list".`,
    );
    this.provider = provider;
    this.counts = counts;
    this.reasons = reasons;
  }
}
