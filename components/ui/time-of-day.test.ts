import { expect, test } from 'vitest';
import { halfHours, isTimeOfDay, placeOfTime } from './time-of-day.ts';

test('isTimeOfDay accepts the times that forms accept', () => {
  for (const time of ['00:00', '08:30', '23:59', '08:30:15', '08:30:00.5Z', '08:30+02:00'])
    expect(isTimeOfDay(time), time).toBe(true);
  for (const text of ['', '8:30', '24:00', '08:60', '08.30', 'noon', '08:30 '])
    expect(isTimeOfDay(text), text).toBe(false);
});

test('the list starts at the chosen time, or the one before it', () => {
  expect(halfHours).toHaveLength(48);
  expect([halfHours[0], halfHours[1], halfHours.at(-1)]).toEqual(['00:00', '00:30', '23:30']);
  expect(['00:00', '08:30', '08:59:59Z', '23:59', '', 'noon'].map(time => halfHours[placeOfTime(time)])).toEqual([
    ...['00:00', '08:30', '08:30', '23:30'],
    ...['09:00', '09:00'],
  ]);
});
