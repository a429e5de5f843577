import {
  formatModuleAddress,
  type ModuleAddress,
} from "../../address/module-address.ts";
import {
  parseModuleSource,
  type ArchiveSource,
} from "../../address/module-source.ts";
import type { ModuleConstraint } from "../../address/module-constraint.ts";
import { isFailure } from "../../errors/index.ts";
import {
  formatModuleRelease,
  type ModuleReleaseAddress,
} from "../../mirror/modules/release.ts";
import type { OriginLimits } from "../../origin/guard/origin-settings.ts";
import type { HttpClient } from "../../origin/http/http-client.ts";
import { ModuleRegistry } from "../../origin/registries/module-registry.ts";
import type { FoundModule, ModuleReading } from "../inputs/module-tree.ts";
import { readModulePackage } from "../packages/module-packages.ts";
import { chooseNewest, newestOfModule } from "../packages/version-choice.ts";
import { keepBody, openNameless } from "./mirrored-archive.ts";

/** Modules that a running mirror serves, read for what they require; each archive is asked for once. */
export class MirroredModules implements ModuleReading {
  readonly #http: HttpClient;
  /** The base of the mirror's network mirror protocol. */
  readonly #base: URL;
  readonly #limits: Pick<OriginLimits, "versions">;
  readonly #signal: AbortSignal;
  readonly #found = new Map<string, Promise<FoundModule>>();

  constructor(
    http: HttpClient,
    base: URL,
    limits: Pick<OriginLimits, "versions">,
    signal: AbortSignal,
  ) {
    this.#http = http;
    this.#base = base;
    this.#limits = limits;
    this.#signal = signal;
  }

  async open(
    module: ModuleAddress,
    constraint: ModuleConstraint,
    where: string,
  ): Promise<FoundModule> {
    const registry = this.#registryOf(module);
    const name = formatModuleAddress(module);
    try {
      const version = await chooseNewest(
        name,
        newestOfModule(constraint),
        where,
        () => registry.listVersions(module, this.#signal),
      );
      return await this.#get(registry, { module, version });
    } catch (error) {
      if (!isFailure(error, "not-found")) throw error;
      return { because: `${this.#base.host} does not have it` };
    }
  }

  #registryOf({ hostname }: ModuleAddress): ModuleRegistry {
    const service = new URL(`../v1/modules/${hostname}/`, this.#base);
    const discovery = { findService: () => Promise.resolve(service) };
    return new ModuleRegistry(this.#http, discovery, this.#limits);
  }

  #get(
    registry: ModuleRegistry,
    address: ModuleReleaseAddress,
  ): Promise<FoundModule> {
    const name = formatModuleRelease(address);
    const found = this.#found.get(name) ?? this.#fetch(name, registry, address);
    this.#found.set(name, found);
    return found;
  }

  async #fetch(
    name: string,
    registry: ModuleRegistry,
    { module, version }: ModuleReleaseAddress,
  ): Promise<FoundModule> {
    const { location, base } = await registry.findLocation(
      module,
      version,
      this.#signal,
    );
    const source = parseModuleSource(name, location, base.href);
    // Another host is where only clients go.
    return source.kind === "archive" && source.url.host === this.#base.host
      ? this.#read(name, source)
      : { because: `${this.#base.host} sends clients elsewhere for it` };
  }

  async #read(name: string, source: ArchiveSource): Promise<FoundModule> {
    const { body } = await this.#http.openArchive(source.url, this.#signal);
    await using file = await openNameless();
    const archive = { fd: file.fd, size: await keepBody(body, file) };
    return await readModulePackage(name, source, archive);
  }
}
