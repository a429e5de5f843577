import { createAuthority } from "../test/fakes/authority.ts";
import { json } from "../test/fakes/faults.ts";
import {
  startRegistry,
  type Registry,
  type RegistryOptions,
} from "../test/fakes/registry.ts";
import { originsOf } from "../test/origins.ts";

/** A registry on loopback that signs, and the configuration of a daemon in front of it. */
export interface Origin {
  readonly registry: Registry;
  readonly ca: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly stop: () => Promise<void>;
}

export const hostname = "registry.terraform.io";

export async function startOrigin(
  options: Omit<RegistryOptions, "authority"> = {},
  hostnames: readonly string[] = [hostname],
): Promise<Origin> {
  const authority = await createAuthority();
  const registry = await startRegistry({ authority, ...options });
  const origins = hostnames.map(
    (name) => originsOf(authority, registry, {}, name).origins,
  );
  return {
    registry,
    ca: authority.caPem,
    config: {
      origins: Object.assign({}, ...origins) as unknown,
      freshness: { versions: "1h" },
    },
    stop: () => registry.stop(),
  };
}

/** A provider with 200 versions, as grown ones have; all but the newest are in the list alone. */
export async function publishManyVersions(registry: Registry): Promise<void> {
  await registry.publish({ type: "demo", version: "1.0.0" });
  const older = Array.from(
    { length: 199 },
    (_, index) => `0.${Math.floor(index / 4)}.${index % 4}`,
  );
  const versions = [...older, "1.0.0"].map((version) => ({
    version,
    protocols: ["5.0"],
    platforms: [{ os: "linux", arch: "amd64" }],
  }));
  registry.script(
    "versions",
    json((document) => ({ ...document, versions })),
  );
}

/** The path of a provider's documents in the mirror. */
export function mirrorPath(type: string, host: string = hostname): string {
  return `providers/${host}/acme/${type}/`;
}
