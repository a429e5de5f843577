import * as z from "zod";
import {
  formatModuleAddress,
  type ModuleAddress,
} from "../../address/module-address.ts";
import {
  isVersion,
  normalVersion,
  type Version,
} from "../../address/version.ts";
import { isFailure } from "../../errors/index.ts";
import type { OriginLimits } from "../guard/origin-settings.ts";
import type { HttpClient, OriginAnswer } from "../http/http-client.ts";
import { single } from "../http/http-answer.ts";
import { unusable } from "../http/http-failure.ts";
import { checkCount } from "./answer-shape.ts";
import { absentOn404 } from "./provider-registry.ts";
import type { ServiceDiscovery } from "./service-discovery.ts";

const listed = z.object({ versions: z.array(z.unknown()).nullish() });
const versionsAnswer = z.object({ modules: z.array(listed).min(1) });

/** What is malformed is left out for itself, as clients do with what is no version. */
const versionEntry = z.object({ version: z.string() }).catch({ version: "" });

const locationAnswer = z.object({ location: z.string().nullish() });

/** More is no location. */
const locationBytes = 64 * 1024;

export type ModuleRegistry = ReturnType<typeof makeModuleRegistry>;

/** An origin that speaks the module registry protocol; `documents` is where OpenTofu's registry has its documents. */
export function makeModuleRegistry(
  http: HttpClient,
  discovery: ServiceDiscovery,
  limits: OriginLimits,
  documents?: URL,
) {
  /** "List Available Versions for a Specific Module", in normal form; what clients read as no version is left out. */
  async function listVersions(
    address: ModuleAddress,
    signal: AbortSignal,
  ): Promise<readonly Version[]> {
    const spelled = await listSpelled(address, signal);
    return [...new Set(spelled.flatMap((text) => normalVersion(text) ?? []))];
  }

  async function listSpelled(
    address: ModuleAddress,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const subject = formatModuleAddress(address);
    const { url, value } = await askFor(address, "versions", signal, (url) =>
      http.fetchJson(url, signal).catch(absentOn404(subject)),
    );
    const parsed = versionsAnswer.safeParse(value);
    if (!parsed.success)
      throw unusable(url, "it is no list of a module's versions");
    // The first module is the one that was asked for.
    const versions = parsed.data.modules[0]?.versions ?? [];
    checkCount(url, versions.length, limits.versions, "versions");
    return versions.map((entry) => versionEntry.parse(entry).version);
  }

  /** When each version was published, as registry.terraform.io and registry.opentofu.org say beside their protocol. */
  async function listDates(
    module: ModuleAddress,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<Version, Date>> {
    const { namespace, name, system } = module;
    const subject = formatModuleAddress(module);
    const path = `${namespace}/${name}/${system}`;
    const base = await discovery.findService("modules.v1", signal);
    const url =
      documents === undefined
        ? new URL(`/v2/modules/${path}?include=module-versions`, base)
        : new URL(`registry/docs/modules/${path}/index.json`, documents);
    const { value } = await http
      .fetchJson(url, signal)
      .catch(absentOn404(subject));
    return parseModuleDates(value);
  }

  /**
   * "Download Source Code for a Specific Module Version"; a location in the body wins over the header. A registry
   * that does not know the version in normal form is asked for it as it lists it. The location is as the registry gave
   * it, not parsed yet; a relative one is resolved from `base`.
   */
  async function findLocation(
    address: ModuleAddress,
    version: Version,
    signal: AbortSignal,
  ) {
    try {
      return await locate(address, version, signal);
    } catch (error) {
      if (!isFailure(error, "not-found")) throw error;
      const listed = await listSpelled(address, signal);
      const spelled = listed.find((text) => normalVersion(text) === version);
      if (spelled === undefined || spelled === version) throw error;
      return locate(address, spelled, signal);
    }
  }

  async function locate(
    address: ModuleAddress,
    version: string,
    signal: AbortSignal,
  ) {
    const module = formatModuleAddress(address);
    const rest = `${version}/download`;
    const answer = await askFor(address, rest, signal, (url) =>
      http
        .fetchAnswer(url, locationBytes, signal)
        .catch(absentOn404(`${module} ${version}`)),
    );
    // In UTF-8, of which each byte arrives as a letter.
    const header = single(answer.headers["x-terraform-get"]) ?? "";
    const location =
      readBody(answer) || Buffer.from(header, "latin1").toString("utf8");
    if (location === "")
      throw unusable(answer.url, "it names no place of the module");
    return { location, base: answer.url };
  }

  /** A registry that does not know the module in lower case is asked for it as the client wrote it. */
  async function askFor<T>(
    { namespace, name, system, spelling }: ModuleAddress,
    rest: string,
    signal: AbortSignal,
    ask: (url: URL) => Promise<T>,
  ): Promise<T> {
    const base = await discovery.findService("modules.v1", signal);
    const path = `${namespace}/${name}`;
    const urlOf = (spelled: string) =>
      new URL(`${spelled}/${system}/${rest}`, base);
    return ask(urlOf(path)).catch((error: unknown) => {
      if (!isFailure(error, "not-found") || spelling === path) throw error;
      return ask(urlOf(spelling));
    });
  }

  return { listVersions, listDates, findLocation };
}

function readBody({ bytes }: OriginAnswer): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const parsed = locationAnswer.safeParse(JSON.parse(text));
    return parsed.data?.location ?? "";
  } catch {
    // A body beside the header may have any content.
    return "";
  }
}

/** A version with its date, in either form; undefined for what has another one, of which nothing is said. */
const dated = z
  .object({
    id: z.string().default(""),
    published: z.string().default(""),
    attributes: z
      .object({ version: z.string(), "published-at": z.string() })
      .optional(),
  })
  .optional()
  .catch(undefined);

/** `included` of registry.terraform.io (JSON:API), `versions` of registry.opentofu.org. */
const datesAnswer = z.object({
  included: z.array(dated).catch([]),
  versions: z.array(dated).catch([]),
});

/** Reads what a registry says of when versions were published; of what it says in no such form, nothing. */
function parseModuleDates(value: unknown): ReadonlyMap<Version, Date> {
  const { included = [], versions = [] } =
    datesAnswer.safeParse(value).data ?? {};
  const dates = new Map<Version, Date>();
  for (const one of [...included, ...versions]) {
    const version = one?.attributes?.version ?? one?.id.replace(/^v/, "") ?? "";
    const date = new Date(
      one?.attributes?.["published-at"] ?? one?.published ?? "",
    );
    if (isVersion(version) && !Number.isNaN(date.getTime()))
      dates.set(version, date);
  }
  return dates;
}
