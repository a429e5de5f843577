/**
 * Primary keys of publishers whose namespaces most companies meet first, by
 * HOSTNAME/NAMESPACE (docs/trust.md, rule 3). HashiCorp's is on
 * https://www.hashicorp.com/trust/security; OpenTofu's, which signs its builds of
 * HashiCorp's providers too, is in keys/o/opentofu of github.com/opentofu/registry.
 */
const knownKeys: ReadonlyMap<string, string> = new Map([
  [
    "registry.terraform.io/hashicorp",
    "C874011F0AB405110D02105534365D9472D7468F",
  ],
  [
    "registry.opentofu.org/hashicorp",
    "E3E6E43D84CB852EADB0051D0C0AF313E5FD9F80",
  ],
  [
    "registry.opentofu.org/opentofu",
    "E3E6E43D84CB852EADB0051D0C0AF313E5FD9F80",
  ],
]);

/** The key that counts for a namespace from the start, whatever its registry offers at first contact. */
export function findKnownKey({
  hostname,
  namespace,
}: {
  readonly hostname: string;
  readonly namespace: string;
}): string | undefined {
  return knownKeys.get(`${hostname}/${namespace}`);
}
