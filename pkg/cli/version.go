package cli

// Version is the release of everything in this repository: the commands, the
// SDK, and what they tell clients (README decision 13).
const Version = "2.0.0"
