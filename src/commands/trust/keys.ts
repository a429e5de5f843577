import { parseHostname } from "../../address/hostname.ts";
import {
  isNamespace,
  parseProviderAddress,
} from "../../address/provider-address.ts";
import { MalformedAddress } from "../../errors/index.ts";
import { listSigned } from "../../mirror/releases/signed-releases.ts";
import type { Namespace } from "../../mirror/trust/ledger-entry.ts";
import { parseFingerprint } from "../../verification/openpgp/keys/signing-key.ts";
import {
  expectNotRevoked,
  mostNamed,
  nameScope,
  recordDecision,
  withKey,
  type KeyScope,
  type TrustParts,
} from "./decision.ts";

/** `provender trust approve|revoke --key FINGERPRINT`: the key is known, or refused, for a namespace or a provider from now on. */
export async function decideKey(
  parts: TrustParts,
  text: string,
  fingerprintText: string,
  scope: KeyScope,
  decision: "approved" | "revoked",
): Promise<void> {
  const { ledger, now, operator, stdout } = parts;
  const { namespace, type } = parseKeyScope(text, scope);
  const fingerprint = parseFingerprint(fingerprintText);
  if (decision === "approved" && type !== null)
    expectNotRevoked(
      namespace,
      type,
      await ledger.read(namespace),
      fingerprint,
    );
  const at = now().toISOString();
  const key = { fingerprint, decision, type, at, ...operator };
  await ledger.decide(namespace, ({ keys, releases }) => ({
    keys: withKey(keys, key),
    releases,
  }));
  const provider = nameScope(namespace, type);
  await recordDecision(parts, decision, { provider, fingerprint });
  const refused =
    decision === "approved"
      ? ""
      : await describeRefused(parts, namespace, type, fingerprint);
  stdout(`${fingerprint} is ${decision} for ${provider}${refused}.\n`);
}

/** What is kept under a revoked key. */
async function describeRefused(
  { records }: TrustParts,
  namespace: Namespace,
  type: string | null,
  fingerprint: string,
): Promise<string> {
  const type_ = type ?? undefined;
  const signed = await listSigned(records, namespace, type_, fingerprint);
  if (signed.length === 0)
    return ": nothing that is kept here is under it, and whatever comes under it is refused";
  const named = signed
    .slice(0, mostNamed)
    .map(({ type, version }) => `${type} ${version}`)
    .join(", ");
  const more = signed.length - mostNamed;
  const rest = more > 0 ? ` and ${more} more` : "";
  return `: ${named}${rest} and whatever comes under it are refused from now on`;
}

function parseKeyScope(
  text: string,
  scope: KeyScope,
): { readonly namespace: Namespace; readonly type: string | null } {
  if (scope === "namespace")
    return { namespace: parseNamespace(text), type: null };
  const provider = parseProviderAddress(text);
  return { namespace: provider, type: provider.type };
}

function parseNamespace(text: string): Namespace {
  const [hostname = "", namespace = "", ...rest] = text.split("/");
  if (rest.length > 0 || !isNamespace(namespace))
    throw new MalformedAddress("namespace", text, "HOSTNAME/NAMESPACE");
  return { hostname: parseHostname(hostname), namespace };
}
