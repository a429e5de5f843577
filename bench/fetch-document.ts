import { Agent } from "node:https";
import { fetchFrom } from "../test/running-mirror.ts";

/** The body of a document; rejects unless it comes whole and with status 200. */
export async function fetchDocument(
  url: string,
  ca: string,
  agent: Agent = new Agent({ ca }),
): Promise<Buffer> {
  const answer = await fetchFrom(new URL(url), agent, {});
  if (answer.status !== 200 || !answer.complete)
    throw new Error(`${answer.status} of ${url}: ${answer.body.toString()}`);
  return answer.body;
}
