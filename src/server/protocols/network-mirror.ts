import { formatPlatform } from "../../address/platform.ts";
import { formatProviderAddress } from "../../address/provider-address.ts";
import {
  type MirroredPackage,
  renderIndex,
  renderVersion,
} from "../../mirror/providers/package-description.ts";
import type { ProviderMirror } from "../../mirror/providers/provider-mirror.ts";
import type { PlatformArchives } from "../../mirror/providers/ensured-archive.ts";
import {
  answersByHead,
  recordDelivery,
  sendArchive,
} from "../http/archive-response.ts";
import {
  renderDocument,
  rendersOnce,
  sendDocument,
} from "../http/document-response.ts";
import {
  noteAnswer,
  noteLeftOut,
  type RenderedDocument,
  type RoutedContext,
} from "../http/request-context.ts";
import {
  type ProtocolParts,
  readPackage,
  readProvider,
  readRelease,
  withinFor,
} from "./asked.ts";

const renderIndexOnce = rendersOnce(renderIndex);

/** The provider network mirror protocol: index.json, VERSION.json and the archives of one provider. */
export class NetworkMirrorProtocol {
  readonly #mirror: ProviderMirror;
  readonly #platforms: PlatformArchives;
  readonly #parts: ProtocolParts;
  readonly #described = new WeakMap<
    readonly MirroredPackage[],
    Map<string, RenderedDocument>
  >();

  constructor(
    mirror: ProviderMirror,
    platforms: PlatformArchives,
    parts: ProtocolParts,
  ) {
    this.#mirror = mirror;
    this.#platforms = platforms;
    this.#parts = parts;
  }

  async index(ctx: RoutedContext): Promise<void> {
    const answer = await this.#mirror.listVersions(
      readProvider(ctx),
      withinFor(ctx),
    );
    noteAnswer(ctx.state, answer);
    noteLeftOut(ctx.state, answer.value);
    sendDocument(ctx, renderIndexOnce(answer.value.versions), answer);
  }

  async version(ctx: RoutedContext): Promise<void> {
    const answer = await this.#mirror.findRelease(
      readRelease(ctx),
      withinFor(ctx),
    );
    const packages = await this.#mirror.describePackages(answer.value);
    this.#platforms.want(answer.value);
    noteAnswer(ctx.state, answer);
    const { asker, path } = ctx.state;
    const folder = path.slice(0, path.lastIndexOf("/") + 1);
    const document = this.#describe(packages, folder, asker.token);
    sendDocument(ctx, document, answer);
  }

  /**
   * Describes packages once for each client and state of the packages, which is
   * checked every second; signed URLs live longer.
   */
  #describe(
    packages: readonly MirroredPackage[],
    folder: string,
    holder: string | undefined,
  ): RenderedDocument {
    const { authentication } = this.#parts;
    const known =
      this.#described.get(packages) ?? new Map<string, RenderedDocument>();
    this.#described.set(packages, known);
    const key = JSON.stringify([authentication.isOn, folder, holder]);
    const document =
      known.get(key) ??
      renderDocument(
        renderVersion(packages, (filename) =>
          authentication.locate(folder, filename, holder),
        ),
      );
    known.set(key, document);
    return document;
  }

  async archive(ctx: RoutedContext): Promise<void> {
    const asked = performance.now();
    const { address, platform } = readPackage(ctx);
    const { value: admitted, ...answer } = await this.#mirror.findPackage(
      ...([address, platform, withinFor(ctx)] as const),
    );
    const { request, found } = admitted;
    noteAnswer(ctx.state, { ...answer, outcome: "hit" });
    const findSize = () => this.#mirror.findSize(found);
    if (await answersByHead(ctx, found.sha256, findSize)) return;
    const start = performance.now();
    const archive = await this.#mirror.openArchive(admitted);
    const { audit, limits } = this.#parts;
    const { note } = ctx.state;
    note.outcome = archive.outcome;
    try {
      recordDelivery(audit, ctx.res, {
        provider: formatProviderAddress(request.provider),
        version: request.address.version,
        platform: formatPlatform(found.platform),
        sha256: found.sha256,
      });
      // Time spent on metadata counts, as the client waits for one answer.
      const patience = limits.answer - (performance.now() - asked);
      await sendArchive(ctx, archive, found.filename, patience);
    } finally {
      if (archive.outcome !== "hit")
        note.originTime += performance.now() - start;
      await archive.close();
    }
  }
}
