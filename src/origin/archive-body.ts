import { readBody, tooLarge, unusable, type Answer } from "./http-answer.ts";
import type { OriginLimits } from "./origin-settings.ts";

/** Passes the body on while it keeps to the archive's size and to the least rate over each window. */
export async function* limitBody(
  answer: Answer,
  limits: OriginLimits,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  let window = { start: performance.now(), size: 0 };
  for await (const chunk of readBody(answer)) {
    size += chunk.length;
    if (size > limits.archive) throw tooLarge(answer, limits.archive);
    const now = performance.now();
    if (now - window.start >= limits.rateWindow) {
      const least = (limits.rate * (now - window.start)) / 1000;
      if (size - window.size < least)
        throw unusable(answer.url, "it arrives more slowly than limits.rate");
      window = { start: now, size };
    }
    yield chunk;
  }
}
