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
export function makeFolderModules(
  folder: OriginFolder,
  limits: OriginLimits,
): Pick<ModuleRegistry, "listVersions" | "findLocation"> {
  /** Like registries, in lower case, and else as the client wrote it. */
  const find = async (address: ModuleAddress) => {
    const { namespace, name, system, spelling } = address;
    for (const spelled of new Set([`${namespace}/${name}`, spelling])) {
      const parts = ["modules", ...spelled.split("/"), system];
      const entries = await folder.list(parts);
      if (entries === undefined) continue;
      const files = entries.filter(({ kind }) => kind !== "other");
      return { parts, names: files.map((entry) => entry.name) };
    }
    throw failure("not-found", `${spelling}/${system}`);
  };
  return {
    /** Newest first, without those that findLocation does not find. */
    async listVersions(address) {
      const { names, parts } = await find(address);
      const named = Map.groupBy(names, versionOf);
      const versions = [...named].flatMap(([version, forms]) =>
        version === undefined || forms.length > 1 ? [] : [version],
      );
      const url = folder.urlOf(parts);
      checkCount(url, versions.length, limits.versions, "versions");
      return newestFirst(versions);
    },

    async findLocation(address, version) {
      const { names, parts } = await find(address);
      const [name, ...others] = names.filter(
        (one) => versionOf(one) === version,
      );
      const subject = `${formatModuleAddress(address)} ${version}`;
      if (name === undefined || others.length > 0)
        throw failure("not-found", subject);
      const base = folder.urlOf([...parts, name]);
      return { location: base.href, base };
    },
  };
}

function versionOf(name: string): Version | undefined {
  const ending = endings.find((one) => name.endsWith(one)) ?? "";
  const version = name.slice(0, name.length - ending.length);
  return ending !== "" && isVersion(version) ? version : undefined;
}
