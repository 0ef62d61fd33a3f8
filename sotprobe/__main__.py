from sotprobe.cli.main import main

main()
