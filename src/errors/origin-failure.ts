import { ProvenderError } from "./provender-error.ts";

/** An origin failed; that says nothing about whether a thing exists. */
export abstract class OriginFailure extends ProvenderError {
  readonly url: string;
  constructor(url: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.url = url;
  }
}
