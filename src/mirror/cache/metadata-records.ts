/** A value and when the origin last confirmed it. */
export interface Kept<V> {
  readonly value: V;
  readonly confirmedAt: Date;
}

/** Records of one kind of value on disk, by subject. */
export interface MetadataRecords<K, V> {
  /** The subject in words; also the key in memory. */
  format(subject: K): string;
  read(subject: K): Promise<Kept<V> | undefined>;
  /** Writes what continues `known`. Returns what is kept, which another replica may have made of it. */
  write(subject: K, kept: Kept<V>, known: V | undefined): Promise<Kept<V>>;
  /** About how many bytes the value takes, which bounds what memory holds. */
  weigh(value: V): number;
}
