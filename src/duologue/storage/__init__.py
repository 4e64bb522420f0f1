"""Where the bytes of users' files are: in the data folder, in a folder that several gateways share, or in object storage."""
