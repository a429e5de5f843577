import {
  type ProviderAddress,
  providerAddress,
} from "../../src/address/provider-address.ts";
import { parseVersion } from "../../src/address/version.ts";
import type { ReleaseAddress } from "../../src/mirror/releases/release.ts";

/** Makes addresses in a namespace: the same object for the same name, as the protocols have it. */
export function makeAddresses(hostname: string, namespace: string) {
  const providers = new Map<string, ProviderAddress>();
  const releases = new Map<string, ReleaseAddress>();
  const providerOf = (type: string) => {
    const known = providers.get(type);
    const provider = known ?? providerAddress(hostname, namespace, type);
    providers.set(type, provider);
    return provider;
  };
  const releaseOf = (type: string, version: string) => {
    const name = `${type} ${version}`;
    const provider = providerOf(type);
    const known = releases.get(name);
    const address = known ?? { provider, version: parseVersion(version) };
    releases.set(name, address);
    return address;
  };
  return { providerOf, releaseOf };
}
