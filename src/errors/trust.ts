import { ProvenderError } from "./provender-error.ts";
import { nameProvider, type ProviderRelease } from "./provider-release.ts";

/** Digits of a digest that a command names; enough for one release. */
const prefixLength = 16;

/** Writes the command that approves exactly this content. */
export function formatApproval(
  release: ProviderRelease,
  sha256sums: string,
): string {
  const name = `${nameProvider(release)}@${release.version}`;
  return `provender trust approve ${name} --sha256sums ${sha256sums.slice(0, prefixLength)}`;
}

/** Digits of a git commit by SHA-1. */
const commitLength = 40;

/** True for a TYPE that is the NAME/SYSTEM of a module. */
export function isModuleType(type: string): boolean {
  return type.includes("/");
}

/** Names a content in words: that of a module is an archive or a commit. */
export function nameContent(
  { provider }: Pick<ProviderRelease, "provider">,
  digest: string,
): string {
  if (!isModuleType(provider.type)) return `SHA256SUMS ${digest}`;
  return `${digest.length === commitLength ? "commit" : "SHA-256"} ${digest}`;
}

/** Writes the command that decides on a key for a scope. */
export function formatKeyDecision(
  decision: "approve" | "revoke",
  fingerprint: string,
  scope: string,
): string {
  return `provender trust ${decision} --key ${fingerprint} --for ${scope}`;
}

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

/** A release whose key the trust policy does not take, or that is unsigned though its provider's releases are signed. */
export class KeyRefused extends ProvenderError {
  readonly code = "key-refused";
  /** "none" for an unsigned release. */
  readonly fingerprint: string;
  readonly reason: keyof typeof whyKeysAreRefused;
  /** What decided, as the audit log names it. */
  readonly rule: string;
  constructor(
    release: ProviderRelease,
    fingerprint: string,
    reason: keyof typeof whyKeysAreRefused,
    sha256sums: string,
  ) {
    const provider = nameProvider(release);
    const cause =
      fingerprint === "none"
        ? `it is not signed (${whySignaturesAreMissed[reason]})`
        : `of its signing key ${fingerprint} (${whyKeysAreRefused[reason]})`;
    const remedy = writeRemedy(release, fingerprint, reason, sha256sums);
    super(
      `${provider} ${release.version} is held back because ${cause}: after checking with the publisher, the mirror's operator can ${remedy}.`,
    );
    this.fingerprint = fingerprint;
    this.reason = reason;
    this.rule = `trust: ${reason}`;
  }
}

function writeRemedy(
  release: ProviderRelease,
  fingerprint: string,
  reason: KeyRefused["reason"],
  sha256sums: string,
): string {
  const provider = nameProvider(release);
  const { hostname, namespace } = release.provider;
  const approve = (scope: string) =>
    `"${formatKeyDecision("approve", fingerprint, scope)}"`;
  if (reason === "not-pinned") return `change "trust.keys"`;
  if (reason === "revoked") return `run ${approve(`${hostname}/${namespace}`)}`;
  const content = `run "${formatApproval(release, sha256sums)}" for this content`;
  return fingerprint === "none"
    ? content
    : `${content}, or ${approve(provider)} for the key`;
}

/** Content of a release that can be approved or whose approval can be taken back. */
export interface NamedContent {
  /** SHA-256 of its SHA256SUMS; a module's archive or commit. */
  readonly sha256sums: string;
  /** Undefined for an unsigned release, or when that is not known. */
  readonly fingerprint: string | undefined;
}

/** An operator decides on a content, and what was named is not exactly one. */
export class ContentNotChosen extends ProvenderError {
  readonly code = "trust-decision";
  constructor(
    release: ProviderRelease,
    problem: string,
    choices: readonly NamedContent[],
    command: (content: NamedContent) => string,
  ) {
    const isModule = isModuleType(release.provider.type);
    const listed = choices.map((one) => {
      const key = isModule ? "" : `, key ${one.fingerprint ?? "none"}`;
      const content = nameContent(release, one.sha256sums);
      return `\n  ${content}${key}: ${command(one)}`;
    });
    const name = `${nameProvider(release)} ${release.version}`;
    const remedy =
      choices.length === 0
        ? `run "provender trust list", which names what needs a decision`
        : `run one of these:${listed.join("")}`;
    super(`${name} ${problem}: ${remedy}${choices.length === 0 ? "." : ""}`);
  }
}

/** A decision would have no effect before another one, or before a change of the configuration. */
export class NotApprovable extends ProvenderError {
  readonly code = "trust-decision";
  constructor(subject: string, why: string, remedy: string) {
    super(`${subject} cannot be approved because ${why}: ${remedy}.`);
  }
}

/** An operator resets a provider or namespace that the mirror never had to do with. */
export class NothingToReset extends ProvenderError {
  readonly code = "trust-decision";
  constructor(subject: string) {
    super(
      `${subject} has neither a first contact nor a release here: check the name in "provender trust list".`,
    );
  }
}
