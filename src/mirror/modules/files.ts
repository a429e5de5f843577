import type { ArchiveFormat } from "../../address/module-archive-name.ts";
import type { ArchiveLimits } from "../../verification/archives/limits.ts";
import {
  followLink,
  splitPath,
  type ArchiveMember,
} from "../../verification/archives/members.ts";
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
  const wanted = new Map<string, Buffer[]>();
  const visit = ({ name, kind }: ArchiveMember) => {
    if (kind !== "file" || !isWanted(name)) return undefined;
    const pieces: Buffer[] = [];
    wanted.set(pathOf(name), pieces);
    return (piece: Buffer) => pieces.push(Buffer.from(piece));
  };
  const members = await readMembers(format, archive, limits, visit);
  const contents = [...wanted].map(
    ([path, pieces]) => [path, Buffer.concat(pieces)] as const,
  );
  return {
    files: new Map(contents),
    links: new Map(members.flatMap(readLink)),
  };
}

function readLink({
  name,
  kind,
  target = "",
}: ArchiveMember): readonly (readonly [string, string])[] {
  if (kind === "hard link") return [[pathOf(name), pathOf(target)]];
  if (kind !== "symbolic link") return [];
  const folder = (splitPath(name) ?? []).slice(0, -1);
  return [[pathOf(name), (followLink(folder, target) ?? []).join("/")]];
}

function pathOf(name: string): string {
  return (splitPath(name) ?? []).join("/");
}
