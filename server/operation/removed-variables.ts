/** Former settings, with their replacements: a process that finds one in its environment reports it at its start. */
export const removedVariables: Readonly<Record<string, string>> = {
  BATON_LUA_WORKERS: 'there is one worker for each core, and at least two',
  BATON_MAX_CALLS_IN_FLIGHT: 'it is four times BATON_MAX_IN_FLIGHT',
  BATON_MAX_CONNECTIONS: 'it is 10,000; BATON_MAX_CONNECTIONS_PER_ADDRESS limits one address',
  BATON_MAX_IN_FLIGHT_PER_TENANT: 'it is half of BATON_MAX_IN_FLIGHT',
  BATON_MEMORY_MIB_PER_TENANT: 'it is a quarter of BATON_MEMORY_MIB',
  OTEL_BSP_MAX_QUEUE_SIZE: 'it is 8192',
  OTEL_BSP_SCHEDULE_DELAY: 'it is 5000',
};
