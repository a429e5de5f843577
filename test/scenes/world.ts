import { createAuthority } from "../fakes/authority.ts";
import { startRegistry } from "../fakes/registry.ts";
import { originsOf } from "../origins.ts";
import { startMirror, type MirrorOptions } from "../running-mirror.ts";

/** A registry until the tests of the file are over, and a configuration that has it for an origin. */
export async function startOrigin() {
  const authority = await createAuthority();
  const registry = await startRegistry({ authority });
  return { authority, registry, config: originsOf(authority, registry) };
}

/** The same, with a mirror of it. */
export async function startWorld(
  settings: Readonly<Record<string, unknown>> = {},
  options: Omit<MirrorOptions, "config"> = {},
) {
  const origin = await startOrigin();
  const config = { ...origin.config, ...settings };
  const mirror = await startMirror({ config, ...options });
  return { ...origin, mirror };
}
