import {
  formatModuleArchiveName,
  parseModuleArchiveName,
} from "../../address/module-archive-name.ts";
import {
  formatModuleAddress,
  moduleAddress,
  type ModuleAddress,
} from "../../address/module-address.ts";
import { parseVersion, type Version } from "../../address/version.ts";
import type {
  ModuleLocation,
  ModuleMirror,
} from "../../mirror/modules/module-mirror.ts";
import type { ModuleReleaseAddress } from "../../mirror/modules/release.ts";
import type { AuditLog } from "../../telemetry/audit-log.ts";
import type { Authentication } from "../access/authentication.ts";
import {
  archiveTag,
  confirmArchive,
  describeArchive,
  sendArchive,
  type ArchiveResponseLimits,
} from "../http/archive-response.ts";
import { isUnmodified } from "../http/conditional-request.ts";
import { rendersOnce, sendDocument } from "../http/document-response.ts";
import { pathOf } from "../http/raw-request.ts";
import { noteAnswer, writeHead, type Exchange } from "../http/request-note.ts";

const renderVersionsOnce = rendersOnce((versions: readonly Version[]) => ({
  modules: [{ versions: versions.map((version) => ({ version })) }],
}));

/** The module registry protocol, for the modules of any origin, and their archives. */
export class ModuleRegistryFace {
  readonly #mirror: ModuleMirror;
  readonly #authentication: Authentication;
  readonly #audit: AuditLog;
  readonly #limits: ArchiveResponseLimits;

  constructor(
    mirror: ModuleMirror,
    authentication: Authentication,
    audit: AuditLog,
    limits: ArchiveResponseLimits,
  ) {
    this.#mirror = mirror;
    this.#authentication = authentication;
    this.#audit = audit;
    this.#limits = limits;
  }

  /** `/v1/modules/:hostname/:namespace/:name/:system/versions`, `…/:version/download` and `…/:version/archive.EXT`. */
  async answer(
    exchange: Exchange,
    { hostname, names, version: text, document }: ModulePath,
  ): Promise<void> {
    const module = moduleAddress(hostname, ...names);
    if (text === undefined) return this.#versions(exchange, module);
    const address = { module, version: parseVersion(text) };
    return document === "download"
      ? this.#location(exchange, address)
      : this.#archive(exchange, address, document);
  }

  async #versions(exchange: Exchange, module: ModuleAddress): Promise<void> {
    const answer = await this.#mirror.listVersions(module);
    noteAnswer(exchange, answer);
    sendDocument(exchange, renderVersionsOnce(answer.value), answer);
  }

  async #location(
    exchange: Exchange,
    address: ModuleReleaseAddress,
  ): Promise<void> {
    const answer = await this.#mirror.findLocation(address);
    noteAnswer(exchange, answer);
    writeHead(exchange, 204, [
      "X-Terraform-Get",
      this.#format(answer.value, exchange),
      "Cache-Control",
      "no-cache",
    ]);
    exchange.res.end();
  }

  /** Relative to the question, so that it holds behind any proxy. */
  #format(location: ModuleLocation, { req, note }: Exchange): string {
    if (location.kind === "elsewhere") return location.location;
    const { format, subdirectory } = location;
    const path = pathOf(req.url ?? "");
    const folder = path.slice(0, path.lastIndexOf("/") + 1);
    const name = formatModuleArchiveName(format);
    const place = this.#authentication.locate(folder, name, note.token);
    return `./${place}${subdirectory === "" ? "" : `//${subdirectory}`}`;
  }

  async #archive(
    exchange: Exchange,
    address: ModuleReleaseAddress,
    name: string,
  ): Promise<void> {
    const format = parseModuleArchiveName(name);
    const start = performance.now();
    const archive = await this.#mirror.openArchive(address, format);
    exchange.note.originTime += performance.now() - start;
    exchange.note.outcome = archive.outcome;
    const { sha256, size } = archive;
    try {
      const type = mediaTypes[format];
      if (isUnmodified(exchange.req, archiveTag(sha256)))
        confirmArchive(exchange, sha256);
      else if (exchange.req.method === "HEAD")
        describeArchive(exchange, sha256, size, type);
      else {
        await this.#recordServed(address, sha256);
        await sendArchive(exchange, archive, name, this.#limits, type);
      }
    } finally {
      await archive.close();
    }
  }

  async #recordServed(
    { module, version }: ModuleReleaseAddress,
    sha256: string,
  ): Promise<void> {
    await this.#audit.record(
      {
        event: "served",
        verdict: "accepted",
        module: formatModuleAddress(module),
        version,
        sha256,
      },
      { durable: false },
    );
  }
}

const mediaTypes = {
  "tar.gz": "application/gzip",
  "tar.bz2": "application/x-bzip2",
  "tar.xz": "application/x-xz",
  zip: "application/zip",
} as const;

export interface ModulePath {
  readonly hostname: string;
  /** Namespace, name and system. */
  readonly names: [string, string, string];
  /** Undefined for the list of versions. */
  readonly version: string | undefined;
  /** `versions`, `download` or the name of an archive. */
  readonly document: string;
}

/** The names in a module's path, not yet checked; undefined for other paths. */
export function findModulePath(path: string): ModulePath | undefined {
  const [, hostname = "", namespace = "", name = "", system = "", rest = ""] =
    /^\/v1\/modules\/([^/]+)\/([^/]+)\/([^/]+)\/([^/]+)\/(.+)$/.exec(path) ??
    [];
  const names: [string, string, string] = [namespace, name, system];
  if (rest === "versions")
    return { hostname, names, version: undefined, document: rest };
  const [, version, document = ""] =
    /^([^/]+)\/(download|archive\.[^/]+)$/.exec(rest) ?? [];
  return version === undefined
    ? undefined
    : { hostname, names, version, document };
}
