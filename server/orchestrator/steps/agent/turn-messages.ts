/** The messages of agents' turns. They are declared in platform/models, whose code sends them to providers. */
export {
  type ContentPart,
  type ToolCallPart,
  type ToolResultPart,
  TurnContent,
  type TurnMessage,
  TurnMessages,
} from '../../../platform/models/messages.ts';
