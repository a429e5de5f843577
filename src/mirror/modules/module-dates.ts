import { LRUCache } from "lru-cache";
import {
  formatModuleAddress,
  type ModuleAddress,
} from "../../address/module-address.ts";
import type { Version } from "../../address/version.ts";
import { inTime } from "../../concurrency/in-time.ts";
import {
  bareVersions,
  type OriginVersions,
} from "../../origin/registries/registry-answers.ts";
import type { ModuleAdmission } from "./admission.ts";
import type { ModuleOrigin } from "./fetch.ts";

/** Clients may ask for any module, so memory is bounded. */
const mostRemembered = 1_000;
/** Milliseconds that a list waits for the dates of its versions. */
const patience = 3_000;

type Dates = ReadonlyMap<Version, Date>;

const noDates: Dates = new Map();

/** When versions of modules were published, as their registries claim; asked for where a rule has a minimum age. */
export class ModuleDates {
  readonly #admission: Pick<ModuleAdmission, "needsDates">;
  readonly #wanted = new LRUCache<string, true>({ max: mostRemembered });

  constructor(admission: Pick<ModuleAdmission, "needsDates">) {
    this.#admission = admission;
  }

  /** Lists the versions of a module with their dates. Throws what listing throws. */
  async listVersions(
    registry: ModuleOrigin["registry"],
    module: ModuleAddress,
    signal: AbortSignal,
  ): Promise<OriginVersions> {
    const dates = this.#list(registry, module, signal);
    return bareVersions(
      await registry.listVersions(module, signal),
      await dates,
    );
  }

  /** Leaves a version undated when its date does not arrive in time; never rejects. */
  async #list(
    registry: ModuleOrigin["registry"],
    module: ModuleAddress,
    signal: AbortSignal,
  ): Promise<Dates> {
    if (registry.listDates === undefined || !this.#admission.needsDates(module))
      return noDates;
    const asked = registry.listDates(module, signal);
    return inTime(asked, patience, () => noDates).catch(() => noDates);
  }

  /** True the first time that dates are wanted: a known list may have been made when they were not. */
  isNew(module: ModuleAddress): boolean {
    const name = formatModuleAddress(module);
    if (!this.#admission.needsDates(module) || this.#wanted.has(name))
      return false;
    this.#wanted.set(name, true);
    return true;
  }
}
