import { type Configuration } from "../config/load.ts";
import type { ModuleArchives } from "../mirror/modules/archives.ts";
import type { ModuleMirror } from "../mirror/modules/module-mirror.ts";
import { PlatformArchives } from "../mirror/providers/platform-archives.ts";
import { Explanations } from "../mirror/why/explanations.ts";
import type { AdmissionRules } from "../mirror/trust/admission-rules.ts";
import { type StoreLayout } from "../store/layout.ts";
import type { ArchiveLimits } from "../verification/archives/limits.ts";
import { wireKept, type KeptParts } from "./kept.ts";
import { moduleLimits, wireModules } from "./modules.ts";
import { wireProviders, type Providers } from "./providers.ts";
import type { Telemetry } from "./telemetry.ts";

/** All of a daemon but its protocols. */
export interface Core extends Providers {
  readonly platforms: PlatformArchives;
  readonly modules: ModuleMirror;
  readonly explanations: Explanations;
  readonly moduleArchives: ModuleArchives;
  readonly moduleLimits: ArchiveLimits;
}

export function wireCore(
  configuration: Configuration,
  rules: AdmissionRules,
  layout: StoreLayout,
  telemetry: Telemetry,
  parts?: KeptParts,
): Core {
  const kept = wireKept(configuration, layout, telemetry, parts);
  const core = wireProviders(configuration, rules, kept, telemetry);
  const platforms = wirePlatforms(configuration, core);
  const modules = wireModules(configuration, { ...telemetry, ...core });
  const { mirror, archives: moduleArchives, threads } = modules;
  const fetching = [platforms, moduleArchives, ...threads];
  const stopFetching = async () => {
    await Promise.all([core.stopFetching(), ...fetching.map(closeIt)]);
  };
  const close = async () => {
    await stopFetching();
    await core.close();
  };
  const hostnames = [...configuration.origins.keys()];
  return {
    ...core,
    ...{ platforms, modules: mirror, moduleArchives, stopFetching, close },
    explanations: new Explanations({
      ...{ ...core, modules: mirror, hostnames },
      health: core.clients.health,
    }),
    moduleLimits: moduleLimits(configuration.limits),
  };
}

/** A mirror that asks nobody has nothing to fetch. */
function wirePlatforms(
  { platforms, offline }: Configuration,
  core: Providers,
): PlatformArchives {
  return new PlatformArchives(offline ? [] : platforms, core);
}

function closeIt(one: { close(): Promise<unknown> }): Promise<unknown> {
  return one.close();
}
