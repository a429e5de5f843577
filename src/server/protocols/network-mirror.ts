import { parseArchiveName } from "../../address/archive-name.ts";
import { formatPlatform } from "../../address/platform.ts";
import {
  formatProviderAddress,
  providerAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { parseVersion } from "../../address/version.ts";
import {
  renderIndex,
  renderVersion,
} from "../../mirror/providers/mirror-documents.ts";
import type { MirroredPackage } from "../../mirror/providers/package-description.ts";
import type { ProviderMirror } from "../../mirror/providers/provider-mirror.ts";
import type {
  ReleaseAddress,
  ReleasePackage,
} from "../../mirror/releases/release.ts";
import type { AuditLog } from "../../telemetry/audit-log.ts";
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
import { recordDelivery } from "../http/delivery-audit.ts";
import {
  noteAnswer,
  type RenderedDocument,
  type RoutedContext,
} from "../http/request-context.ts";

const renderIndexOnce = rendersOnce(renderIndex);

/** The provider network mirror protocol: index.json, VERSION.json and the archives of one provider. */
export class NetworkMirrorProtocol {
  readonly #mirror: ProviderMirror;
  readonly #authentication: Authentication;
  readonly #audit: AuditLog;
  readonly #limits: ArchiveResponseLimits;
  readonly #described = new WeakMap<
    readonly MirroredPackage[],
    Map<string, RenderedDocument>
  >();

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

  async index(ctx: RoutedContext): Promise<void> {
    const answer = await this.#mirror.listVersions(readProvider(ctx));
    noteAnswer(ctx.state, answer);
    sendDocument(ctx, renderIndexOnce(answer.value), answer);
  }

  async version(ctx: RoutedContext): Promise<void> {
    const provider = readProvider(ctx);
    const version = parseVersion(ctx.params.version ?? "");
    const answer = await this.#mirror.listPackages({ provider, version });
    const { asker, path } = ctx.state;
    noteAnswer(ctx.state, answer);
    const folder = path.slice(0, path.lastIndexOf("/") + 1);
    const document = this.#describe(answer.value, folder, asker.token);
    sendDocument(ctx, document, answer);
  }

  /** Once for each asker and what is known of the packages, which is looked up every second: signed URLs live longer. */
  #describe(
    packages: readonly MirroredPackage[],
    folder: string,
    holder: string | undefined,
  ): RenderedDocument {
    const locate = (filename: string) =>
      this.#authentication.locate(folder, filename, holder);
    const known =
      this.#described.get(packages) ?? new Map<string, RenderedDocument>();
    this.#described.set(packages, known);
    const key = JSON.stringify([this.#authentication.isOn, folder, holder]);
    const document =
      known.get(key) ?? renderDocument(renderVersion(packages, locate));
    known.set(key, document);
    return document;
  }

  async archive(ctx: RoutedContext): Promise<void> {
    const asked = performance.now();
    const provider = readProvider(ctx);
    const filename = `${ctx.params.archive}.zip`;
    const { version, platform } = parseArchiveName(provider, filename);
    const release = { provider, version };
    const { value: found, ...answer } = await this.#mirror.findPackage(
      release,
      platform,
    );
    noteAnswer(ctx.state, { ...answer, outcome: "hit" });
    if (isUnmodified(ctx.req, archiveTag(found.sha256)))
      confirmArchive(ctx, found.sha256);
    else if (ctx.method === "HEAD") {
      const size = await this.#mirror.findSize(found);
      describeArchive(ctx, found.sha256, size);
    } else await this.#send(ctx, release, found, asked);
  }

  async #send(
    ctx: RoutedContext,
    release: ReleaseAddress,
    found: ReleasePackage,
    asked: number,
  ): Promise<void> {
    const start = performance.now();
    const archive = await this.#mirror.openArchive(release, found);
    const { note } = ctx.state;
    note.outcome = archive.outcome;
    try {
      recordDelivery(this.#audit, ctx.res, describe(release, found));
      // What was spent on metadata counts: the client waits for one answer.
      const answer = this.#limits.answer - (performance.now() - asked);
      const limits = { ...this.#limits, answer };
      await sendArchive(ctx, archive, found.filename, limits);
    } finally {
      if (archive.outcome !== "hit")
        note.originTime += performance.now() - start;
      await archive.close();
    }
  }
}

/** Throws MalformedAddress. */
function readProvider({ params }: RoutedContext): ProviderAddress {
  const { hostname = "", namespace = "", type = "" } = params;
  return providerAddress(hostname, namespace, type);
}

function describe(
  { provider, version }: ReleaseAddress,
  { platform, sha256 }: ReleasePackage,
) {
  return {
    provider: formatProviderAddress(provider),
    version,
    platform: formatPlatform(platform),
    sha256,
  };
}
