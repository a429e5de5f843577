import { type Configuration } from "../config/load.ts";
import type { ModuleArchives } from "../mirror/modules/archives.ts";
import type { ModuleMirror } from "../mirror/modules/module-mirror.ts";
import { Explanations } from "../mirror/why/explanations.ts";
import type { AdmissionRules } from "../mirror/trust/admission-rules.ts";
import { type StoreLayout } from "../store/layout.ts";
import { wireKept, type Kept, type KeptParts } from "./kept.ts";
import { wireModules } from "./modules.ts";
import { wireProviders, type Providers } from "./providers.ts";
import type { Telemetry } from "./telemetry.ts";

/** All of a daemon but its protocols; modules are wired when they are first asked for. */
export interface Core extends Providers {
  readonly modules: ModuleMirror;
  readonly moduleArchives: ModuleArchives;
}

interface CoreParts extends KeptParts {
  /** Runs at the end of a command, once nothing is fetched any longer. */
  readonly close?: (kept: Kept) => Promise<void>;
}

const closeKept = (kept: Kept) => kept.close();

export function wireCore(
  configuration: Configuration,
  rules: AdmissionRules,
  layout: StoreLayout,
  telemetry: Telemetry,
  { close = closeKept, ...parts }: CoreParts = {},
): Core {
  const kept = wireKept(configuration, layout, telemetry, parts);
  const providers = wireProviders(configuration, rules, kept, telemetry);
  let wired: ReturnType<typeof wireModules> | undefined;
  const modules = () =>
    (wired ??= wireModules(configuration, { ...telemetry, ...providers }));
  const stopFetching = async () => {
    await Promise.all([providers.stopFetching(), wired?.close()]);
  };
  return {
    ...providers,
    get modules() {
      return modules().mirror;
    },
    get moduleArchives() {
      return modules().archives;
    },
    stopFetching,
    close: async () => {
      await stopFetching();
      await close(providers);
    },
  };
}

/** Sets up the explanations of answers to clients. */
export function wireExplanations(
  { origins }: Configuration,
  core: Core,
): Explanations {
  const { health } = core.clients;
  return new Explanations({ ...core, health, hostnames: [...origins.keys()] });
}
