/** The messages of agents' turns. They are declared beside the code that hands them to providers, which knows nothing of steps. */
export {
  type ContentPart,
  type ToolCallPart,
  type ToolResultPart,
  TurnContent,
  type TurnMessage,
  TurnMessages,
} from '../../../platform/models/messages.ts';
