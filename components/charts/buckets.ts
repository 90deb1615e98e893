export type Granularity = 'hour' | 'day' | 'week' | 'month';

const formats = new Map<string, Intl.DateTimeFormat>();

function format(zone: string, name: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${zone} ${name}`;
  let made = formats.get(key);
  if (!made) {
    made = new Intl.DateTimeFormat('en-GB', { timeZone: zone, ...options });
    formats.set(key, made);
  }
  return made;
}

/** Returns a short name for an axis: "14:00", "9 Mar", "Mar 2026". For midnight it is the day. */
export function bucketTick(at: string, granularity: Granularity, zone: string): string {
  const instant = new Date(at);
  switch (granularity) {
    case 'hour': {
      const time = format(zone, 'time', { hour: '2-digit', minute: '2-digit' }).format(instant);
      return time === '00:00' ? format(zone, 'day', { day: 'numeric', month: 'short' }).format(instant) : time;
    }
    case 'day':
    case 'week':
      return format(zone, 'day', { day: 'numeric', month: 'short' }).format(instant);
    case 'month':
      return format(zone, 'month', { month: 'short', year: 'numeric' }).format(instant);
  }
}

/**
 * Returns the full name: "Mon 9 Mar 2026, 14:00 GMT+1" (the offset distinguishes the hours when clocks go back), "Week
 * of 9 Mar 2026".
 */
export function bucketName(at: string, granularity: Granularity, zone: string): string {
  const instant = new Date(at);
  const day = { day: 'numeric', month: 'short', year: 'numeric' } as const;
  switch (granularity) {
    case 'hour': {
      const time = { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' } as const;
      return format(zone, 'hour', { weekday: 'short', ...day, ...time }).format(instant);
    }
    case 'day':
      return format(zone, 'whole day', { weekday: 'short', ...day }).format(instant);
    case 'week':
      return `Week of ${format(zone, 'date', day).format(instant)}`;
    case 'month':
      return format(zone, 'whole month', { month: 'long', year: 'numeric' }).format(instant);
  }
}
