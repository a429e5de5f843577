import { formatPlatform } from "../../address/platform.ts";
import { formatProviderAddress } from "../../address/provider-address.ts";
import {
  type MirroredPackage,
  type ProviderMirror,
  renderIndex,
  renderVersion,
} from "../../mirror/providers/provider-mirror.ts";
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
const renderVersionOnce = rendersOnce<readonly MirroredPackage[], []>(
  renderVersion,
);

export type NetworkMirror = ReturnType<typeof makeNetworkMirror>;

/** The provider network mirror protocol: index.json, VERSION.json and the archives of one provider. */
export function makeNetworkMirror(
  mirror: ProviderMirror,
  platforms: PlatformArchives,
  { authentication, audit, limits }: ProtocolParts,
) {
  return {
    async index(ctx: RoutedContext): Promise<void> {
      const provider = readProvider(ctx.params);
      const answer = await mirror.listVersions(provider, withinFor(ctx));
      noteLeftOut(ctx.state, answer.value);
      sendDocument(ctx, renderIndexOnce(answer.value.versions), answer);
    },

    async version(ctx: RoutedContext): Promise<void> {
      const answer = await mirror.findRelease(
        readRelease(ctx.params),
        withinFor(ctx),
      );
      const packages = await mirror.describePackages(answer.value);
      platforms.want(answer.value);
      const { asker, path } = ctx.state;
      const folder = path.slice(0, path.lastIndexOf("/") + 1);
      // Signed URLs expire, so that a document with them is good for one answer.
      const document = authentication.isOn
        ? renderDocument(
            renderVersion(packages, (filename) =>
              authentication.locate(folder, filename, asker.token),
            ),
          )
        : renderVersionOnce(packages);
      sendDocument(ctx, document, answer);
    },

    async archive(ctx: RoutedContext): Promise<void> {
      const asked = performance.now();
      const { address, platform } = readPackage(ctx.params);
      const within = withinFor(ctx);
      const answer = await mirror.findPackage(address, platform, within);
      const { request, found } = answer.value;
      noteAnswer(ctx.state, { ...answer, outcome: "hit" });
      const findSize = () => mirror.findSize(found);
      if (await answersByHead(ctx, found.sha256, findSize)) return;
      const start = performance.now();
      const archive = await mirror.openArchive(answer.value);
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
    },
  };
}
