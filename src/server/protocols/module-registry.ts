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
import { failure } from "../../errors/index.ts";
import type {
  ModuleLocation,
  ModuleMirror,
} from "../../mirror/modules/module-mirror.ts";
import {
  formatModuleRelease,
  type ModuleReleaseAddress,
} from "../../mirror/modules/release.ts";
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
import { type ProtocolParts, withinFor } from "./asked.ts";

const renderVersionsOnce = rendersOnce((versions: readonly Version[]) => ({
  modules: [{ versions: versions.map((version) => ({ version })) }],
}));

export type ModuleRegistry = ReturnType<typeof makeModuleRegistry>;

/** The module registry protocol, for the modules of any origin, and their archives. */
export function makeModuleRegistry(
  mirror: ModuleMirror,
  { authentication, publicAddress, audit, limits }: ProtocolParts,
) {
  /** `X-Terraform-Get` ("Download Source Code for a Specific Module Version"). */
  function format(location: ModuleLocation, { req, state }: RoutedContext) {
    if (location.kind === "elsewhere") return location.location;
    const { format, subdirectory } = location;
    const { path, asker } = state;
    const folder = path.slice(0, path.lastIndexOf("/") + 1);
    const name = formatModuleArchiveName(format);
    const place = authentication.locate(folder, name, asker.token);
    const root = publicAddress.rootFor(req, path);
    // Clients take what begins otherwise for a place of theirs.
    const base = root.startsWith("../") ? "./" : `${root}${folder.slice(1)}`;
    return `${base}${place}${subdirectory === "" ? "" : `//${subdirectory}`}`;
  }

  return {
    async versions(ctx: RoutedContext): Promise<void> {
      const answer = await mirror.listVersions(readModule(ctx), withinFor(ctx));
      noteLeftOut(ctx.state, answer.value);
      sendDocument(ctx, renderVersionsOnce(answer.value.versions), answer);
    },

    /** One version, for programs that look for its age; says what is known alone. */
    async version(ctx: RoutedContext): Promise<void> {
      const address = readRelease(ctx);
      const { module, version } = address;
      const answer = await mirror.listVersions(module, withinFor(ctx));
      await mirror.admit(address);
      const { versions, list } = answer.value;
      if (!versions.includes(version))
        throw failure("not-found", formatModuleRelease(address));
      const { namespace, name, system } = module;
      const published = list?.versions.get(version)?.published;
      const document = {
        id: `${namespace}/${name}/${system}/${version}`,
        ...{ namespace, name, provider: system, version },
        ...(published && { published_at: published.toISOString() }),
      };
      sendDocument(ctx, renderDocument(document), answer);
    },

    async location(ctx: RoutedContext): Promise<void> {
      const answer = await mirror.findLocation(readRelease(ctx));
      noteAnswer(ctx.state, answer);
      ctx.status = 204;
      // Node writes one byte a letter; clients read UTF-8.
      const location = Buffer.from(format(answer.value, ctx));
      ctx.set("X-Terraform-Get", location.toString("latin1"));
      ctx.set("Cache-Control", "no-cache");
    },

    async archive(ctx: RoutedContext): Promise<void> {
      const address = readRelease(ctx);
      const name = `archive.${ctx.params.format}`;
      const format = parseModuleArchiveName(name);
      const start = performance.now();
      const archive = await mirror.openArchive(address, format);
      const { note } = ctx.state;
      note.originTime += performance.now() - start;
      note.outcome = archive.outcome;
      const { sha256, size } = archive;
      try {
        const type = mediaTypes[format];
        if (await answersByHead(ctx, sha256, () => size, type)) return;
        const { version } = address;
        const module = formatModuleAddress(address.module);
        recordDelivery(audit, ctx.res, { module, version, sha256 });
        await sendArchive(ctx, archive, name, limits.answer, type);
      } finally {
        await archive.close();
      }
    },
  };
}

const mediaTypes = {
  "tar.gz": "application/gzip",
  "tar.bz2": "application/x-bzip2",
  "tar.xz": "application/x-xz",
  zip: "application/zip",
} as const;

function readModule({ params }: RoutedContext): ModuleAddress {
  const { hostname = "", namespace = "", name = "", system = "" } = params;
  return moduleAddress(hostname, namespace, name, system);
}

function readRelease(ctx: RoutedContext): ModuleReleaseAddress {
  const module = readModule(ctx);
  return { module, version: parseVersion(ctx.params.version ?? "") };
}
