/** The candidate with the fewest edits, if it is close enough to be what was meant. */
export function findNearest(
  word: string,
  candidates: readonly string[],
): string | undefined {
  const bound = Math.max(2, Math.floor(word.length / 2));
  return candidates
    .map((candidate) => ({ candidate, edits: countEdits(word, candidate) }))
    .filter(({ edits }) => edits <= bound)
    .sort((a, b) => a.edits - b.edits)[0]?.candidate;
}

/** Levenshtein's distance, letters of either case alike; long words are cut. */
function countEdits(from: string, to: string): number {
  const letters = (word: string) => Array.from(word.slice(0, 64).toLowerCase());
  const [a, b] = [letters(from), letters(to)];
  let row = b.map((_, at) => at + 1);
  for (const [i, letter] of a.entries()) {
    let [left, diagonal] = [i + 1, i];
    row = b.map((other, at) => {
      const above = row[at] ?? 0;
      left = Math.min(left + 1, above + 1, diagonal + Number(letter !== other));
      diagonal = above;
      return left;
    });
  }
  return row.at(-1) ?? a.length;
}
