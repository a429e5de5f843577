/** Bytes that SHA256SUMS may have. */
const largest = 256 * 1024;
const mostLines = 2_000;

/** Lengthens the text of SHA256SUMS to the largest that is read, by names that begin with `prefix`. */
export function fillChecksums(text: string, prefix: string): string {
  const lines = mostLines - (text.match(/\n/g)?.length ?? 0);
  const length = Math.floor((largest - text.length) / lines);
  const filled = Array.from({ length: lines }, (_, n) => {
    const begin = `${n.toString(16).padStart(64, "0")}  ${prefix}`;
    return `${begin}${String(n).padEnd(length - 1 - begin.length, "x")}\n`;
  });
  return `${text}${filled.join("")}`;
}
