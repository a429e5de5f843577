/** One thing that an archive would put on a disk. */
export interface ArchiveMember {
  /** As in the archive. */
  readonly name: string;
  readonly kind: "file" | "directory" | "symbolic link" | "hard link";
  /** Of a link, as in the archive. */
  readonly target?: string | undefined;
}

/** A name and where it would lead, split at its slashes. */
interface Place {
  readonly name: string;
  readonly parts: readonly string[];
}

/**
 * Why unpacking would reach out of its folder; undefined when it cannot. Links may lead only inside, and by `..` only at the start of their
 * target: `link/..` is another place than it looks. Nothing may lie below a link.
 */
export function findEscape(
  members: readonly ArchiveMember[],
): string | undefined {
  const links = new Set<string>();
  const places: Place[] = [];
  for (const member of members) {
    const parts = splitPath(member.name);
    if (parts === undefined) return `a member is named ${quote(member.name)}`;
    const place = { name: member.name, parts };
    places.push(place);
    if (member.kind !== "symbolic link") continue;
    if (!staysInside(place, member.target ?? ""))
      return `${quote(member.name)} is a link to ${quote(member.target ?? "")}`;
    links.add(parts.join("/"));
  }
  const below = places.find(({ parts }) => isBelow(parts, links));
  if (below !== undefined) return `${quote(below.name)} lies below a link`;
  return findBadHardLink(members, links);
}

/** What a symbolic link in `folder` (its parts) leads to, as parts from the top; undefined when that is outside or unclear. */
export function followLink(
  folder: readonly string[],
  target: string,
): readonly string[] | undefined {
  const steps = target.split("/").filter((step) => step !== "" && step !== ".");
  const up = steps.findIndex((step) => step !== "..");
  const climbs = up < 0 ? steps.length : up;
  const down = steps.slice(climbs);
  if (target === "" || isOdd(target) || down.includes("..")) return undefined;
  if (climbs > folder.length) return undefined;
  return [...folder.slice(0, folder.length - climbs), ...down];
}

function findBadHardLink(
  members: readonly ArchiveMember[],
  links: ReadonlySet<string>,
): string | undefined {
  for (const { name, kind, target = "" } of members) {
    if (kind !== "hard link") continue;
    const parts = splitPath(target);
    if (parts === undefined || isBelow([...parts, ""], links))
      return `${quote(name)} is a link to ${quote(target)}`;
  }
  return undefined;
}

function staysInside({ parts }: Place, target: string): boolean {
  return followLink(parts.slice(0, -1), target) !== undefined;
}

function isBelow(
  parts: readonly string[],
  links: ReadonlySet<string>,
): boolean {
  return parts.some((_, end) => links.has(parts.slice(0, end).join("/")));
}

/** Undefined for a name that leads out of the folder on any system. */
function splitPath(name: string): readonly string[] | undefined {
  const parts = name.split("/").filter((part) => part !== "" && part !== ".");
  return name === "" || isOdd(name) || parts.includes("..") ? undefined : parts;
}

/** Absolute on some system, or with what ends a name somewhere. */
function isOdd(path: string): boolean {
  return /^\/|[\\\0]|^[A-Za-z]:/.test(path);
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
