import {
  formatModuleAddress,
  type ModuleAddress,
} from "../../address/module-address.ts";
import { isVersion, newestFirst, type Version } from "../../address/version.ts";
import { failure } from "../../errors/index.ts";
import type { OriginLimits } from "../guard/origin-settings.ts";
import { checkCount } from "../registries/answer-shape.ts";
import type { ModuleRegistry } from "../registries/module-registry.ts";
import type { OriginFolder } from "./origin-folder.ts";

const endings = [".tar.gz", ".zip"];

/** Modules of a folder, each as modules/NAMESPACE/NAME/SYSTEM/VERSION.tar.gz or VERSION.zip. */
export class FolderModules implements Pick<
  ModuleRegistry,
  "listVersions" | "findLocation"
> {
  readonly #folder: OriginFolder;
  readonly #limits: OriginLimits;

  constructor(folder: OriginFolder, limits: OriginLimits) {
    this.#folder = folder;
    this.#limits = limits;
  }

  /** Newest first, without those that findLocation does not find. */
  async listVersions(address: ModuleAddress): Promise<readonly Version[]> {
    const { names, parts } = await this.#find(address);
    const named = Map.groupBy(names, versionOf);
    const versions = [...named].flatMap(([version, forms]) =>
      version === undefined || forms.length > 1 ? [] : [version],
    );
    const url = this.#folder.urlOf(parts);
    checkCount(url, versions.length, this.#limits.versions, "versions");
    return newestFirst(versions);
  }

  async findLocation(address: ModuleAddress, version: Version) {
    const { names, parts } = await this.#find(address);
    const [name, ...others] = names.filter((one) => versionOf(one) === version);
    if (name === undefined || others.length > 0)
      throw failure("not-found", `${formatModuleAddress(address)} ${version}`);
    const base = this.#folder.urlOf([...parts, name]);
    return { location: base.href, base };
  }

  /** Like registries, in lower case, and else as the client wrote it. */
  async #find({ namespace, name, system, spelling }: ModuleAddress) {
    for (const spelled of new Set([`${namespace}/${name}`, spelling])) {
      const parts = ["modules", ...spelled.split("/"), system];
      const entries = await this.#folder.list(parts);
      if (entries === undefined) continue;
      const files = entries.filter(({ kind }) => kind !== "other");
      return { parts, names: files.map((entry) => entry.name) };
    }
    throw failure("not-found", `${spelling}/${system}`);
  }
}

function versionOf(name: string): Version | undefined {
  const ending = endings.find((one) => name.endsWith(one)) ?? "";
  const version = name.slice(0, name.length - ending.length);
  return ending !== "" && isVersion(version) ? version : undefined;
}
