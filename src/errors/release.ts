/** A release by the parts of its name; a TYPE with a slash is the NAME/SYSTEM of a module. */
export interface ProviderRelease {
  readonly provider: {
    readonly hostname: string;
    readonly namespace: string;
    readonly type: string;
  };
  readonly version: string;
}

/** Digits of a digest that a command names; enough for one release. */
const prefixLength = 16;
/** Digits of a git commit by SHA-1. */
const commitLength = 40;

/** `HOSTNAME/NAMESPACE/TYPE`, as commands take it. */
export function nameProvider({
  provider: { hostname, namespace, type },
}: Pick<ProviderRelease, "provider">): string {
  return `${hostname}/${namespace}/${type}`;
}

export function nameRelease(release: ProviderRelease): string {
  return `${nameProvider(release)} ${release.version}`;
}

/** Writes the command that approves exactly this content. */
export function formatApproval(
  release: ProviderRelease,
  sha256sums: string,
): string {
  return `provender trust approve ${nameProvider(release)}@${release.version} --sha256sums ${sha256sums.slice(0, prefixLength)}`;
}

/** Tells an operator how to accept other content. */
export function approveAfterCheck(
  release: ProviderRelease,
  sha256sums: string,
): string {
  return `check with the publisher, then as the mirror's operator run "${formatApproval(release, sha256sums)}"`;
}

/** Writes the command that decides on a key for a scope. */
export function formatKeyDecision(
  decision: "approve" | "revoke",
  fingerprint: string,
  scope: string,
): string {
  return `provender trust ${decision} --key ${fingerprint} --for ${scope}`;
}

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
