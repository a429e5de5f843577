import { ProvenderError } from "./provender-error.ts";

const whyKeysAreRefused = {
  revoked: "an operator of the mirror revoked it",
  "not-pinned": "it is not among the keys that the configuration pins",
  unknown: "no earlier release of this namespace was signed with it",
} as const;

/** A good signature by a key that the trust policy does not take for this release. */
export class KeyRefused extends ProvenderError {
  readonly code = "key-refused";
  readonly fingerprint: string;
  readonly reason: keyof typeof whyKeysAreRefused;
  /** What decided, as the audit log names it. */
  readonly rule: string;
  constructor(
    release: string,
    fingerprint: string,
    reason: keyof typeof whyKeysAreRefused,
  ) {
    const [provider = "", version = ""] = release.split(" ");
    const namespace = provider.split("/").slice(0, 2).join("/");
    const remedies = {
      revoked: `run "provender trust approve --key ${fingerprint} ${namespace}"`,
      "not-pinned": `add it to "trust.keys"`,
      unknown: `run "provender trust approve ${provider}@${version}"`,
    } as const;
    super(
      `${release} is held back because of its signing key ${fingerprint} (${whyKeysAreRefused[reason]}): after checking the key with the publisher, the mirror's operator can ${remedies[reason]}.`,
    );
    this.fingerprint = fingerprint;
    this.reason = reason;
    this.rule = `trust: ${reason}`;
  }
}
