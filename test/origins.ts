import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Authority } from "./fakes/authority.ts";
import type { Registry } from "./fakes/registry.ts";
import { scratch } from "./running-mirror.ts";

/** Configuration that maps a provider hostname to a fake registry. */
export function originsOf(
  authority: Authority,
  registry: Pick<Registry, "url">,
  settings: Readonly<Record<string, unknown>> = {},
  hostname = "registry.terraform.io",
): { readonly origins: Readonly<Record<string, unknown>> } {
  const folder = scratch("ca");
  // The daemon may be another user.
  chmodSync(folder, 0o755);
  const ca = join(folder, "ca.pem");
  writeFileSync(ca, authority.caPem);
  return { origins: { [hostname]: { url: registry.url, ca, ...settings } } };
}
