-- What an ended answer took: tokens of all turns, what its last turn read and how much it could, and credits.
ALTER TABLE "chat_messages" ADD COLUMN "usage" JSON;
