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
    const other = places.take(name, parts, kind === "directory");
    if (other === name) return `it has ${quote(name)} twice`;
    if (other !== undefined)
      return `${quote(other)} and ${quote(name)} take the same place on some systems, and one of them needs another name`;
    if (places.count > entries * partsOfMember)
      return "its names have too many parts";
  }
  return undefined;
}

/** Every folder and every member by a number, found by its parent's number and its own folded name. */
class Places {
  readonly #numbers = new Map<string, number>();
  readonly #isFolder: boolean[] = [true];
  /** Of the member that took the place. */
  readonly #names: string[] = [""];

  get count(): number {
    return this.#isFolder.length;
  }

  /** The member that is there already, or the file that stands in the way. */
  take(
    name: string,
    parts: readonly string[],
    isFolder: boolean,
  ): string | undefined {
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
        return this.#names[known];
      parent = known ?? this.#add(mayBeKnown, name);
      this.#numbers.set(key, parent);
    }
    return undefined;
  }

  #add(isFolder: boolean, name: string): number {
    this.#names.push(name);
    return this.#isFolder.push(isFolder) - 1;
  }
}

function fold(part: string): string {
  const name = part.replace(/:+\$data$/i, "");
  let end = name.length;
  while (end > 0 && (name[end - 1] === "." || name[end - 1] === " ")) end--;
  const kept = name.slice(0, end) || part;
  // Letters without a form in the other case, such as ΐ, fall into pieces that only NFC puts together again.
  return kept.normalize("NFC").toLowerCase().toUpperCase().normalize("NFC");
}
