import type { MessagePort } from "node:worker_threads";
import {
  decideSignature,
  type SignatureDecision,
  type SignatureQuestion,
} from "./signature.ts";

export interface SignatureTask {
  readonly question: SignatureQuestion;
  /** Hears when the thread begins, from where the deadline counts. */
  readonly begun: MessagePort;
}

export default function answer({
  question,
  begun,
}: SignatureTask): SignatureDecision {
  begun.postMessage(undefined);
  begun.close();
  return decideSignature(question);
}
