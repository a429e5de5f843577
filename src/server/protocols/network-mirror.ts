import { parseArchiveName } from "../../address/archive-name.ts";
import { formatPlatform } from "../../address/platform.ts";
import {
  formatProviderAddress,
  providerAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { parseVersion } from "../../address/version.ts";
import { MalformedAddress } from "../../errors/index.ts";
import {
  renderIndex,
  renderVersion,
} from "../../mirror/providers/mirror-documents.ts";
import type { ProviderMirror } from "../../mirror/providers/provider-mirror.ts";
import type {
  ReleaseAddress,
  ReleasePackage,
} from "../../mirror/releases/release.ts";
import type { AuditEntry, AuditLog } from "../../telemetry/audit-log.ts";
import {
  archiveTag,
  confirmArchive,
  describeArchive,
  sendArchive,
  type ArchiveResponseLimits,
} from "../http/archive-response.ts";
import type { Authentication } from "../access/authentication.ts";
import { isUnmodified } from "../http/conditional-request.ts";
import {
  renderDocument,
  rendersOnce,
  sendDocument,
} from "../http/document-response.ts";
import { pathOf } from "../http/raw-request.ts";
import { noteAnswer, type Exchange } from "../http/request-note.ts";

const renderIndexOnce = rendersOnce(renderIndex);

/** The provider network mirror protocol: index.json, VERSION.json and the archives of one provider. */
export class NetworkMirrorFace {
  readonly #mirror: ProviderMirror;
  readonly #authentication: Authentication;
  readonly #audit: AuditLog;
  readonly #limits: ArchiveResponseLimits;

  constructor(
    mirror: ProviderMirror,
    authentication: Authentication,
    audit: AuditLog,
    limits: ArchiveResponseLimits,
  ) {
    this.#mirror = mirror;
    this.#authentication = authentication;
    this.#audit = audit;
    this.#limits = limits;
  }

  /** `/providers/:hostname/:namespace/:type/:document`. */
  async answer(
    exchange: Exchange,
    { hostname, namespace, type, document }: NetworkMirrorPath,
  ): Promise<void> {
    const provider = providerAddress(hostname, namespace, type);
    if (document === "index.json") return this.#index(exchange, provider);
    if (document.endsWith(".json")) {
      const version = document.slice(0, -".json".length);
      return this.#version(exchange, provider, version);
    }
    if (document.endsWith(".zip"))
      return this.#archive(exchange, provider, document);
    throw new MalformedAddress(
      "document of a provider",
      document,
      "index.json, VERSION.json or an archive's name",
    );
  }

  async #index(exchange: Exchange, provider: ProviderAddress): Promise<void> {
    const answer = await this.#mirror.listVersions(provider);
    noteAnswer(exchange, answer);
    sendDocument(exchange, renderIndexOnce(answer.value), answer);
  }

  async #version(
    exchange: Exchange,
    provider: ProviderAddress,
    text: string,
  ): Promise<void> {
    const version = parseVersion(text);
    const answer = await this.#mirror.listPackages({ provider, version });
    noteAnswer(exchange, answer);
    const path = pathOf(exchange.req.url ?? "");
    const folder = path.slice(0, path.lastIndexOf("/") + 1);
    const { token } = exchange.note;
    const locate = (filename: string) =>
      this.#authentication.locate(folder, filename, token);
    const document = renderDocument(renderVersion(answer.value, locate));
    sendDocument(exchange, document, answer);
  }

  async #archive(
    exchange: Exchange,
    provider: ProviderAddress,
    filename: string,
  ): Promise<void> {
    const asked = performance.now();
    const { version, platform } = parseArchiveName(provider, filename);
    const release = { provider, version };
    const { value: found, ...answer } = await this.#mirror.findPackage(
      release,
      platform,
    );
    noteAnswer(exchange, { ...answer, outcome: "hit" });
    if (isUnmodified(exchange.req, archiveTag(found.sha256)))
      confirmArchive(exchange, found.sha256);
    else if (exchange.req.method === "HEAD") {
      const size = await this.#mirror.findSize(found);
      describeArchive(exchange, found.sha256, size);
    } else await this.#send(exchange, release, found, asked);
  }

  async #send(
    exchange: Exchange,
    release: ReleaseAddress,
    found: ReleasePackage,
    asked: number,
  ): Promise<void> {
    const start = performance.now();
    const archive = await this.#mirror.openArchive(release, found);
    const { note } = exchange;
    note.outcome = archive.outcome;
    try {
      await this.#audit.record(describeServed(release, found), {
        durable: false,
      });
      // What was spent on metadata counts: the client waits for one answer.
      const answer = this.#limits.answer - (performance.now() - asked);
      const limits = { ...this.#limits, answer };
      await sendArchive(exchange, archive, found.filename, limits);
    } finally {
      if (archive.outcome !== "hit")
        note.originTime += performance.now() - start;
      await archive.close();
    }
  }
}

export interface NetworkMirrorPath {
  readonly hostname: string;
  readonly namespace: string;
  readonly type: string;
  readonly document: string;
}

function describeServed(
  { provider, version }: ReleaseAddress,
  { platform, sha256 }: ReleasePackage,
): AuditEntry {
  return {
    event: "served",
    verdict: "accepted",
    provider: formatProviderAddress(provider),
    version,
    platform: formatPlatform(platform),
    sha256,
  };
}

/** The names in `/providers/:hostname/:namespace/:type/:document`, not yet checked; undefined for other paths. */
export function findMirrorPath(path: string): NetworkMirrorPath | undefined {
  const match = /^\/providers\/([^/]+)\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(path);
  if (match === null) return undefined;
  const [, hostname = "", namespace = "", type = "", document = ""] = match;
  return { hostname, namespace, type, document };
}
