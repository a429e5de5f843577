import type { ArchiveFormat } from "../../address/module-archive-name.ts";
import type { ArchiveLimits } from "../../verification/archives/limits.ts";
import { followLink, splitPath } from "../../verification/archives/members.ts";
import { readMembers } from "../../verification/archives/module-archive.ts";
import type { OpenArchive } from "../../verification/archives/open-archive.ts";

/** Files of an archive by their paths, whose parts are joined by one slash each. */
export interface ModuleFiles {
  readonly files: ReadonlyMap<string, Buffer>;
  /** Targets of links by name, from the top. */
  readonly links: ReadonlyMap<string, string>;
}

/** Returns nothing for a format that is not read. */
export async function readModuleFiles(
  format: ArchiveFormat,
  archive: OpenArchive,
  limits: ArchiveLimits,
  isWanted: (name: string) => boolean,
): Promise<ModuleFiles | undefined> {
  if (format !== "zip" && format !== "tar.gz") return undefined;
  const pieces = new Map<string, Buffer[]>();
  const members = await readMembers(format, archive, limits, (member) => {
    if (member.kind !== "file" || !isWanted(member.name)) return undefined;
    const own: Buffer[] = [];
    pieces.set(pathOf(member.name), own);
    return (piece: Buffer) => own.push(Buffer.from(piece));
  });
  const links = new Map<string, string>();
  for (const { name, kind, target = "" } of members) {
    const folder = (splitPath(name) ?? []).slice(0, -1);
    if (kind === "hard link") links.set(pathOf(name), pathOf(target));
    if (kind === "symbolic link")
      links.set(pathOf(name), (followLink(folder, target) ?? []).join("/"));
  }
  const files = [...pieces].map(
    ([path, own]) => [path, Buffer.concat(own)] as const,
  );
  return { files: new Map(files), links };
}

function pathOf(name: string): string {
  return (splitPath(name) ?? []).join("/");
}
