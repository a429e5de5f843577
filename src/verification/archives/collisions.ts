import { quote, splitPath, type ArchiveMember } from "./members.ts";

/** Parts of all names together, for each member that is allowed. */
const partsOfMember = 32;

/**
 * Why members would take the same place on a disk, on some system at least: the one that is written last would hide the others. Case, the
 * form of accents, and the ends that Windows cuts off make no difference. Directories may be named again. Undefined when none do.
 */
export function findCollision(
  members: readonly ArchiveMember[],
  entries: number,
): string | undefined {
  const places = new Places();
  for (const { name, kind } of members) {
    const parts = splitPath(name) ?? [];
    if (!places.take(parts, kind === "directory"))
      return `${quote(name)} takes the place of another member`;
    if (places.count > entries * partsOfMember)
      return "its names have too many parts";
  }
  return undefined;
}

/** Every folder and every member by a number, found by its parent's number and its own folded name. */
class Places {
  readonly #numbers = new Map<string, number>();
  readonly #isFolder: boolean[] = [true];

  get count(): number {
    return this.#isFolder.length;
  }

  /** False when something is there already, or a file stands in the way. */
  take(parts: readonly string[], isFolder: boolean): boolean {
    let parent = 0;
    for (const [index, part] of parts.entries()) {
      const isLast = index === parts.length - 1;
      const key = `${parent}/${fold(part)}`;
      const known = this.#numbers.get(key);
      const mayBeKnown = !isLast || isFolder;
      if (
        known !== undefined &&
        !(mayBeKnown && this.#isFolder[known] === true)
      )
        return false;
      parent = known ?? this.#isFolder.push(mayBeKnown) - 1;
      this.#numbers.set(key, parent);
    }
    return true;
  }
}

function fold(part: string): string {
  const name = part.replace(/:+\$data$/i, "");
  let end = name.length;
  while (end > 0 && (name[end - 1] === "." || name[end - 1] === " ")) end--;
  const kept = name.slice(0, end) || part;
  return kept.normalize("NFC").toUpperCase().toLowerCase();
}
