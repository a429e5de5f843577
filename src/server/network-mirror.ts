import type { Context } from "koa";
import { parseArchiveName } from "../address/archive-name.ts";
import { formatPlatform } from "../address/platform.ts";
import {
  formatProviderAddress,
  providerAddress,
  type ProviderAddress,
} from "../address/provider-address.ts";
import { parseVersion } from "../address/version.ts";
import { MalformedAddress } from "../errors.ts";
import type { Answer } from "../mirror/answer.ts";
import { renderIndex, renderVersion } from "../mirror/mirror-documents.ts";
import type { ProviderMirror } from "../mirror/provider-mirror.ts";
import type { ReleaseAddress, ReleasePackage } from "../mirror/release.ts";
import type { AuditEntry, AuditLog } from "../telemetry/audit-log.ts";
import {
  archiveTag,
  describeArchive,
  sendArchive,
  type ArchiveResponseLimits,
} from "./archive-response.ts";
import { sendDocument } from "./document-response.ts";
import { noteOf } from "./request-note.ts";

/** The provider network mirror protocol: index.json, VERSION.json and the archives of one provider. */
export class NetworkMirrorFace {
  readonly #mirror: ProviderMirror;
  readonly #audit: AuditLog;
  readonly #limits: ArchiveResponseLimits;

  constructor(
    mirror: ProviderMirror,
    audit: AuditLog,
    limits: ArchiveResponseLimits,
  ) {
    this.#mirror = mirror;
    this.#audit = audit;
    this.#limits = limits;
  }

  /** `/providers/:hostname/:namespace/:type/:document`. */
  async answer(
    ctx: Context,
    { hostname, namespace, type, document }: NetworkMirrorPath,
  ): Promise<void> {
    const provider = providerAddress(hostname, namespace, type);
    if (document === "index.json") return this.#index(ctx, provider);
    if (document.endsWith(".json")) {
      const version = document.slice(0, -".json".length);
      return this.#version(ctx, provider, version);
    }
    if (document.endsWith(".zip"))
      return this.#archive(ctx, provider, document);
    throw new MalformedAddress(
      "document of a provider",
      document,
      "index.json, VERSION.json or an archive's name",
    );
  }

  async #index(ctx: Context, provider: ProviderAddress): Promise<void> {
    const answer = await this.#mirror.listVersions(provider);
    note(ctx, answer);
    sendDocument(ctx, renderIndex(answer.value), answer);
  }

  async #version(
    ctx: Context,
    provider: ProviderAddress,
    text: string,
  ): Promise<void> {
    const version = parseVersion(text);
    const answer = await this.#mirror.listPackages({ provider, version });
    note(ctx, answer);
    sendDocument(ctx, renderVersion(answer.value), answer);
  }

  async #archive(
    ctx: Context,
    provider: ProviderAddress,
    filename: string,
  ): Promise<void> {
    const { version, platform } = parseArchiveName(provider, filename);
    const release = { provider, version };
    const { value: found, ...answer } = await this.#mirror.findPackage(
      release,
      platform,
    );
    note(ctx, { ...answer, outcome: "hit" });
    const unmodified = isUnmodified(ctx, found.sha256);
    if (unmodified) notModified(ctx, found.sha256);
    else if (ctx.method === "HEAD")
      describeArchive(ctx, found.sha256, await this.#mirror.findSize(found));
    else await this.#send(ctx, release, found);
  }

  async #send(
    ctx: Context,
    release: ReleaseAddress,
    found: ReleasePackage,
  ): Promise<void> {
    const start = performance.now();
    const archive = await this.#mirror.openArchive(release, found);
    const noted = noteOf(ctx);
    noted.outcome = archive.outcome;
    await this.#audit.record(describeServed(release, found), {
      durable: false,
    });
    try {
      await sendArchive(ctx, archive, found.filename, this.#limits);
    } finally {
      if (archive.outcome !== "hit")
        noted.originTime += performance.now() - start;
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

function note(ctx: Context, answer: Omit<Answer<unknown>, "value">): void {
  const note = noteOf(ctx);
  note.outcome = answer.outcome;
  note.originTime += answer.originTime;
}

function isUnmodified(ctx: Context, sha256: string): boolean {
  const tags = ctx.get("If-None-Match").split(",");
  return tags.some((tag) => [archiveTag(sha256), "*"].includes(tag.trim()));
}

function notModified(ctx: Context, sha256: string): void {
  ctx.status = 304;
  ctx.set("ETag", archiveTag(sha256));
}
