/** Adds an entry as the newest one; if the map already has `capacity` other entries, the oldest entry is evicted. */
export function setBounded<K, V>(map: Map<K, V>, key: K, value: V, capacity: number): void {
  map.delete(key);
  if (map.size >= capacity)
    for (const oldest of map.keys()) {
      map.delete(oldest);
      break;
    }
  map.set(key, value);
}
