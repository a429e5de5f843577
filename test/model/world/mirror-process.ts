import { parsePlatform } from "../../../src/address/platform.ts";
import type {
  ProviderMirror,
  AdmittedRelease,
} from "../../../src/mirror/providers/provider-mirror.ts";
import { makeAddresses } from "../../scenes/same-addresses.ts";
import { readFailure, type Answer, type Face } from "./answers.ts";
import { composeMirror, type Composed } from "./compose.ts";
import type { ReleaseName } from "./documents.ts";
import { Life } from "./life.ts";
import { hostname, namespace, rulesOf, type Settings } from "./settings.ts";
import type { MemoryMachine } from "./memory-machine.ts";

/** Request of a client. */
export interface Ask extends ReleaseName {
  readonly face: Face;
  readonly platform: string;
}

/** One process of the mirror, from its start to its end. */
export class MirrorProcess {
  readonly life = new Life();
  readonly composed: Composed;

  constructor(machine: MemoryMachine, settings: Settings) {
    this.composed = composeMirror(machine, settings, this.life);
  }

  /** Follows a changed configuration, as a reload does. */
  configure(settings: Settings): void {
    this.composed.admission.replaceRules(rulesOf(settings));
  }

  async ask(asked: Ask): Promise<Answer> {
    const answer = this.#ask(asked).catch(readFailure);
    const first = await Promise.race([answer, this.life.died]);
    return first === "dead" ? { kind: "dead" } : first;
  }

  async #ask({ face, type, version, platform }: Ask): Promise<Answer> {
    const { providers } = this.composed;
    if (face === "index") {
      const { value } = await providers.listVersions(providerOf(type));
      return { kind: "versions", versions: value.versions };
    }
    const address = releaseOf(type, version);
    if (face === "recall")
      return packagesOf(await providers.recallRelease(address));
    if (face === "version")
      return packagesOf((await providers.findRelease(address)).value);
    return findArchive(providers, address, platform);
  }
}

const { providerOf, releaseOf } = makeAddresses(hostname, namespace);

function packagesOf({ release }: AdmittedRelease): Answer {
  const packages = [...release.packages].map(
    ([platform, { sha256 }]) => [platform, sha256] as const,
  );
  return { kind: "packages", packages: new Map(packages) };
}

async function findArchive(
  providers: ProviderMirror,
  address: Parameters<ProviderMirror["findPackage"]>[0],
  platform: string,
): Promise<Answer> {
  const { value } = await providers.findPackage(
    address,
    parsePlatform(platform),
  );
  const { sha256 } = value.found;
  return { kind: "packages", packages: new Map([[platform, sha256]]) };
}
